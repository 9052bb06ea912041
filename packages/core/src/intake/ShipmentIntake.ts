/** The carrier's system posts shipments here, so that they can be looked up and subscribed to. */
import { Context, Effect, Layer } from "effect"
import type { NotPermitted } from "../access/AccessErrors.ts"
import { unknownToCarrier } from "../access/AccessFaults.ts"
import { carrierGrants } from "../access/model/CarrierNumbers.ts"
import { carrierOf, type Principal } from "../access/model/Principal.ts"
import { Wakeups } from "../delivery/Wakeups.ts"
import { type Fault, fault } from "../shared/Fault.ts"
import { decodeInput, InvalidInput } from "../shared/InvalidInput.ts"
import { type RefusedItem, refusedCall } from "../shared/ReadItems.ts"
import { type StorageError, Transaction } from "../shared/StoragePort.ts"
import { contradictionsIn, PostedShipment } from "../shipment-status/model/PostedShipment.ts"
import type { StatusReport } from "../shipment-status/model/StatusReport.ts"
import { ShipmentReports } from "../shipment-status/ShipmentReports.ts"
import { TransitEvents } from "../transit-events/TransitEvents.ts"
import { type IntakeBody, type IntakeOptions, type IntakeResults, type ItemResult, type ReadItem, takeItems } from "./IntakeItems.ts"
import { statusFromTransitEvent } from "./StatusFromTransitEvent.ts"

/** A shipment's natural key. */
export interface ShipmentKey {
  readonly shipmentId: string
}

/** Accepts shipments from a carrier's system, and applies events that the event log already has of them. */
export class ShipmentIntake extends Context.Service<ShipmentIntake, {
  /**
   * Accepts `{shipments: […]}`, `{shipments: {…}}`, a list, or one shipment. A known shipment gets the new description; equal content is a
   * duplicate. One refused shipment refuses the whole call, unless `partial` is set.
   */
  readonly report: (
    principal: Principal,
    body: IntakeBody<"shipments", typeof PostedShipment.Encoded>,
    options?: IntakeOptions
  ) => Effect.Effect<IntakeResults<ShipmentKey>, InvalidInput | NotPermitted | StorageError>
}>()("@waybill/core/intake/ShipmentIntake") {
  static readonly layer = Layer.effect(ShipmentIntake, Effect.gen(function*() {
    const reports = yield* ShipmentReports
    const transitEvents = yield* TransitEvents
    const transaction = yield* Transaction
    const wakeups = yield* Wakeups

    /** The event log's reports of each shipment, oldest first. */
    const historyOf = Effect.fnUntraced(function*(tenantId: string, shipmentIds: ReadonlyArray<string>) {
      const events = shipmentIds.length === 0 ? [] : yield* transitEvents.history(tenantId, shipmentIds)
      const ofShipment = Map.groupBy(events, ({ shipment }) => shipment.shipmentId)
      return (shipmentId: string): ReadonlyArray<StatusReport> =>
        (ofShipment.get(shipmentId) ?? []).map((event) => statusFromTransitEvent(event, event.eventId)).sort((a, b) => a.at - b.at)
    })

    /** Runs in a transaction, so all of it commits or nothing does. */
    const register = Effect.fnUntraced(function*(principal: Principal, all: ReadonlyArray<ReadItem<PostedShipment>>, partial: boolean) {
      const { tenantId } = principal
      const writer = carrierOf(principal)
      const named = [...new Set(all.map(({ value }) => value.shipmentId))]
      const known = yield* reports.lock(tenantId, named.map((shipmentId) => ({ shipmentId, accounts: undefined })), writer)
      const foreign = writer === undefined ? new Set<string>() : yield* reports.foreign(tenantId, named, writer)
      const good = foreign.size === 0 ? all : all.filter(({ value }) => !foreign.has(value.shipmentId))
      const shipmentIds = named.filter((shipmentId) => !foreign.has(shipmentId))
      const history = yield* historyOf(tenantId, shipmentIds.filter((shipmentId) => !known.has(shipmentId)))
      const registered = yield* reports.register(tenantId, known, good.map(({ value }) => value), ({ shipmentId }) => history(shipmentId), writer)
      const others = all.filter(({ value }) => foreign.has(value.shipmentId)).map(({ index, value: { shipmentId } }): RefusedItem =>
        ({ index, result: "refused", faults: [unknownToCarrier(["shipments", index, "shipmentId"], shipmentId)] }))
      const taken = registered.map(({ result, why }, at): ItemResult<ShipmentKey> => {
        const { index, value: { shipmentId } } = good[at]!
        if (result !== "refused") return { index, result, shipmentId }
        return { index, result, faults: [fault(["shipments", index, "ShipmentMilestoneStatus"], why!, "conflict")] }
      })
      const results = [...others, ...taken]
      const refused = results.filter((each) => each.result === "refused")
      return refused.length > 0 && !partial ? yield* refusedCall(refused) : results
    })

    return ShipmentIntake.of({
      report: Effect.fn("ShipmentIntake.report")((principal: Principal, body: unknown, options: IntakeOptions = {}) =>
        takeItems(principal, body, options, {
          member: "shipments",
          looksLikeOne: (one) => "shipmentId" in one || "ProNumber" in one,
          read: (item, at) => readShipment(principal, item, at),
          take: Effect.fnUntraced(function*(good, partial) {
            const results = yield* transaction.run(register(principal, good, partial))
            if (results.some((each) => each.result === "accepted")) yield* wakeups.wake(principal.tenantId)
            return results
          })
        })
      )
    })
  }))
}

const decode = decodeInput(PostedShipment)

const readShipment = (principal: Principal, item: unknown, at: ReadonlyArray<PropertyKey>): Effect.Effect<PostedShipment, InvalidInput> =>
  Effect.tap(decode(item, at), (posted) => InvalidInput.ifAny([...contradictionsIn(posted, at), ...otherCarrierIn(principal, posted, at)]))

/** A carrier with a number may post only its own shipments. */
const otherCarrierIn = (principal: Principal, { carrier }: PostedShipment, at: ReadonlyArray<PropertyKey>): ReadonlyArray<Fault> => {
  const own = carrierOf(principal)
  if (carrier === undefined || own === undefined || carrierGrants({ dot: carrier.dot, mc: carrier.mc }).every((grant) => own.includes(grant))) return []
  return [fault([...at, "carrier"], "Your key may post shipments of one carrier only. Leave carrier out, or name the numbers of your key.", "not_allowed")]
}
