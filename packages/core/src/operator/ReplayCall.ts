/** Sends history of a subscription again, in new deliveries. */
import { Effect, Schema } from "effect"
import { areaOfSource } from "../Areas.ts"
import { DestinationNotFound } from "../delivery/DeliveryErrors.ts"
import type { DestinationOverview } from "../delivery/DeliveryQueue.ts"
import type { PickupSubscriptionStore } from "../pickups/PickupSubscriptionStore.ts"
import { fault } from "../shared/Fault.ts"
import { ShipmentId } from "../shared/Identifier.ts"
import { InstantText, parseInstant } from "../shared/Instant.ts"
import { decodeInput, InvalidInput } from "../shared/InvalidInput.ts"
import { maxShipmentIds } from "../transit-events/model/TransitSubscription.ts"
import type { TransitSubscriptionStore } from "../transit-events/TransitSubscriptionStore.ts"

/** `from` (inclusive) and `to` (exclusive) bound the time at which Waybill stored the events, or entries of the work list. */
export const ReplayCall = Schema.Struct({
  from: InstantText,
  to: Schema.optionalKey(InstantText),
  shipmentIds: Schema.optionalKey(
    Schema.NonEmptyArray(ShipmentId).check(Schema.isMaxLength(maxShipmentIds, { message: `At most ${maxShipmentIds} shipmentIds.` }))
  )
}).annotate({ identifier: "ReplayCall" })

export const decodeReplay = decodeInput(ReplayCall, { closed: true })

interface Stores {
  readonly transit: (typeof TransitSubscriptionStore)["Service"]
  readonly pickups: (typeof PickupSubscriptionStore)["Service"]
}

/** Queues what the subscription's filters and its client's access admit now. Returns the number of queued entries. */
export const replayWith = ({ pickups, transit }: Stores) =>
  Effect.fnUntraced(function*(tenantId: string, { destinationId, source }: DestinationOverview, { from, shipmentIds, to }: typeof ReplayCall.Type) {
    const range = { from: parseInstant(from)!, to: to === undefined ? undefined : parseInstant(to) }
    if (range.to !== undefined && range.to <= range.from) return yield* InvalidInput.of(fault(["to"], "to must be after from.", "out_of_bounds"))
    const area = areaOfSource(source)
    if (area === "pickups" && shipmentIds !== undefined) {
      return yield* InvalidInput.of(fault(["shipmentIds"], "Changes of pickups are replayed by time only. Leave shipmentIds out.", "not_allowed"))
    }
    if (area !== "pickups" && area !== "transit-events") {
      return yield* InvalidInput.of(fault(["subscriptionId"], `A subscription to ${area} has no history to replay. Recover its dead letters instead.`, "not_allowed"))
    }
    const queued = area === "pickups" ? yield* pickups.replay(tenantId, destinationId, range) : yield* transit.replay(tenantId, destinationId, { ...range, shipmentIds })
    return yield* Effect.fromOption(queued, () => new DestinationNotFound({ destinationId }))
  })
