/** One shipment across all areas: found by whatever names it, told in the order things happened. For operators. */
import { Context, Effect, Layer, Schema } from "effect"
import { type DeliveryView, deliveryView } from "../delivery/Deliveries.ts"
import { DeliveryQueue } from "../delivery/DeliveryQueue.ts"
import { areaOfSource, sourcesOfArea } from "../operator/DeliveringArea.ts"
import { formatInstant } from "../shared/Instant.ts"
import { decodeInput, type InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { ShipmentNotFound } from "../shipment-status/ShipmentStatusErrors.ts"
import { type JourneyEntry, orderTimeline } from "./model/JourneyEntry.ts"
import { type FoundShipment, isShipmentId, shipmentSearch } from "./ShipmentSearch.ts"
import { type ShipmentTimeline, makeShipmentTimelines } from "./ShipmentTimeline.ts"

/** Entries of one journey, and characters of their JSON, about. */
export const journeyLimits = { entries: 500, size: 8_000_000 }

/** Deliveries of one journey, and how many of the tenant's newest are looked through for them. */
export const journeyDeliveries = { limit: 50, newest: 2000 }

const SearchQuery = Schema.Struct({ reference: Schema.String })

export interface JourneyDelivery extends DeliveryView {
  readonly area: string
}

export interface ShipmentJourney {
  readonly shipmentId: string
  readonly proNumber: string | null
  readonly bolNumber: string | null
  /** Who may see the shipment; where no area said that, whose its bills and pickups are. */
  readonly accounts: ReadonlyArray<string>
  /** Oldest first. */
  readonly entries: ReadonlyArray<JourneyEntry>
  /** Whether older entries were left out. */
  readonly truncated: boolean
  /** That carried something of the shipment, newest first. Windows of charges are not told apart by shipment, so they are not among them. */
  readonly deliveries: ReadonlyArray<JourneyDelivery>
  /** Older deliveries were not looked at; `null` when all were. */
  readonly deliveriesSince: string | null
}

export class ShipmentJourneys extends Context.Service<ShipmentJourneys, {
  /** Shipments that `reference` names (a shipmentId, a PRO, a bill of lading or a purchase order), 20 at most. */
  readonly find: (tenantId: string, query: unknown) => Effect.Effect<{ readonly data: ReadonlyArray<FoundShipment> }, InvalidInput | StorageError>
  /** By its shipmentId, or by its PRO when no area knows it by another name. */
  readonly get: (tenantId: string, shipmentId: string) => Effect.Effect<ShipmentJourney, ShipmentNotFound | StorageError>
}>()("@waybill/core/journey/ShipmentJourneys") {
  static readonly layer = Layer.effect(
    ShipmentJourneys,
    Effect.gen(function*() {
      const queue = yield* DeliveryQueue
      const search = yield* shipmentSearch
      const timelineOf = yield* makeShipmentTimelines
      const decode = decodeInput(SearchQuery, { closed: true })

      const deliveriesOf = (tenantId: string, shipmentId: string, { billIds }: ShipmentTimeline) =>
        queue.carrying(
          tenantId,
          [
            { sources: [...sourcesOfArea["transit-events"], ...sourcesOfArea["shipment-status"]], keys: [shipmentId] },
            ...(billIds.length === 0 ? [] : [{ sources: sourcesOfArea["freight-charges"], keys: billIds }])
          ],
          journeyDeliveries
        )

      const get = Effect.fn("ShipmentJourneys.get")(function*(tenantId: string, shipmentId: string) {
        const timeline = isShipmentId(shipmentId) ? yield* timelineOf(tenantId, shipmentId, journeyLimits.entries + 1) : undefined
        if (timeline === undefined) {
          return yield* new ShipmentNotFound({ sought: `shipmentId ${shipmentId.slice(0, 200)}`, advice: "Search for it by its PRO, bill of lading or purchase order." })
        }
        const { accounts, bolNumber, events, proNumber } = timeline
        const { deliveries, since } = yield* deliveriesOf(tenantId, shipmentId, timeline)
        return {
          shipmentId,
          proNumber: proNumber ?? null,
          bolNumber: bolNumber ?? null,
          accounts,
          ...orderTimeline(events, journeyLimits),
          deliveries: deliveries.map((each) => ({ ...deliveryView(each), area: areaOfSource(each.source) })),
          deliveriesSince: since === undefined ? null : formatInstant(since)
        }
      })

      return ShipmentJourneys.of({
        find: Effect.fn("ShipmentJourneys.find")(function*(tenantId: string, input: unknown) {
          const { reference } = yield* decode(input)
          return { data: yield* search(tenantId, reference.trim()) }
        }),
        get
      })
    })
  )
}
