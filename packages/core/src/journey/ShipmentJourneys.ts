/** One shipment across all areas: search, and its entries in order of time. For operators. */
import { Context, Effect, Layer, Schema } from "effect"
import { areaOfSource, subscriptionsOfArea } from "../Areas.ts"
import { type DeliveryView, deliveryView } from "../delivery/Deliveries.ts"
import { DeliveryQueue } from "../delivery/DeliveryQueue.ts"
import { instantOrNull } from "../shared/Instant.ts"
import { decodeInput, type InvalidInput } from "../shared/InvalidInput.ts"
import { maxHistoryBytes } from "../shared/ListPage.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { ShipmentNotFound } from "../shipment-status/ShipmentStatusErrors.ts"
import { type JourneyEntry, orderTimeline } from "./model/JourneyEntry.ts"
import { type FoundShipment, isShipmentId, shipmentSearch } from "./ShipmentSearch.ts"
import { type ShipmentTimeline, makeShipmentTimelines } from "./ShipmentTimeline.ts"

/** Most entries of one journey, and their approximate size in characters of JSON. */
export const journeyLimits = { entries: 500, size: maxHistoryBytes }

/** Most deliveries of one journey, and how many of the tenant's newest deliveries are searched for them. */
export const journeyDeliveries = { limit: 50, newest: 2000 }

/** `reference`: a shipmentId, PRO, bill of lading or purchase order, in any spelling. */
export const ShipmentSearchQuery = Schema.Struct({ reference: Schema.String })

/** A delivery about the shipment, with the area of its subscription. */
export interface JourneyDelivery extends DeliveryView {
  readonly area: string
}

/** What all areas know of a shipment, in the order of time, with its deliveries. */
export interface ShipmentJourney {
  readonly shipmentId: string
  readonly proNumber: string | null
  readonly bolNumber: string | null
  /** Accounts that may see the shipment; if no area states them, the accounts of its bills and pickups. */
  readonly accounts: ReadonlyArray<string>
  /** Oldest first. */
  readonly entries: ReadonlyArray<JourneyEntry>
  /** Whether older entries were left out. */
  readonly truncated: boolean
  /** Deliveries about the shipment, newest first. Deliveries of charge windows are left out, because they cover many shipments. */
  readonly deliveries: ReadonlyArray<JourneyDelivery>
  /** Deliveries before this instant were not searched; `null` if all were. */
  readonly deliveriesSince: string | null
}

/** Shows operators a shipment across all areas. */
export class ShipmentJourneys extends Context.Service<ShipmentJourneys, {
  /** Finds at most 20 shipments by shipmentId, PRO, bill of lading or purchase order. */
  readonly find: (tenantId: string, query: typeof ShipmentSearchQuery.Encoded) => Effect.Effect<{ readonly data: ReadonlyArray<FoundShipment> }, InvalidInput | StorageError>
  /** Finds a shipment by its shipmentId, or by its PRO if no area knows its shipmentId. */
  readonly get: (tenantId: string, shipmentId: string) => Effect.Effect<ShipmentJourney, ShipmentNotFound | StorageError>
}>()("@waybill/core/journey/ShipmentJourneys") {
  static readonly layer = Layer.effect(
    ShipmentJourneys,
    Effect.gen(function*() {
      const queue = yield* DeliveryQueue
      const search = yield* shipmentSearch
      const timelineOf = yield* makeShipmentTimelines
      const decode = decodeInput(ShipmentSearchQuery, { closed: true })

      const deliveriesOf = (tenantId: string, shipmentId: string, { billIds }: ShipmentTimeline) =>
        queue.carrying(
          tenantId,
          [
            { sources: [...subscriptionsOfArea["transit-events"].sources, ...subscriptionsOfArea["shipment-status"].sources], keys: [shipmentId] },
            ...(billIds.length === 0 ? [] : [{ sources: subscriptionsOfArea["freight-charges"].sources, keys: billIds }])
          ],
          journeyDeliveries
        )

      const get = Effect.fn("ShipmentJourneys.get")(function*(tenantId: string, shipmentId: string) {
        const timeline = isShipmentId(shipmentId) ? yield* timelineOf(tenantId, shipmentId, journeyLimits.entries + 1) : undefined
        if (timeline === undefined) {
          return yield* new ShipmentNotFound({ key: `shipmentId ${shipmentId.slice(0, 200)}`, advice: "Search for it by its PRO, bill of lading or purchase order." })
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
          deliveriesSince: instantOrNull(since)
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
