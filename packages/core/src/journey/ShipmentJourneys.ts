/** One shipment across all areas: search, and its entries in order of time. For operators. */
import { Context, Effect, Layer, Schema } from "effect"
import { areaOfSource, SubscriptionArea, subscriptionsOfArea } from "../Areas.ts"
import { DeliveryView, deliveryView } from "../delivery/Deliveries.ts"
import { DeliveryQueue } from "../delivery/DeliveryQueue.ts"
import { instantOrNull, InstantText } from "../shared/Instant.ts"
import { decodeInput, type InvalidInput } from "../shared/InvalidInput.ts"
import { maxHistoryBytes } from "../shared/ListPage.ts"
import type { StorageError } from "../shared/StoragePort.ts"
import { ShipmentNotFound } from "../shipment-status/ShipmentStatusErrors.ts"
import { JourneyEntry, orderTimeline } from "./model/JourneyEntry.ts"
import { type FoundShipment, isShipmentId, shipmentSearch } from "./ShipmentSearch.ts"
import { type ShipmentTimeline, makeShipmentTimelines } from "./ShipmentTimeline.ts"

/** Most entries of one journey, and their approximate size in characters of JSON. */
export const journeyLimits = { entries: 500, size: maxHistoryBytes }

/** Most deliveries of one journey, and how many of the tenant's newest deliveries are searched for them. */
const journeyDeliveries = { limit: 50, newest: 2000 }

/** `reference`: a shipmentId, PRO, bill of lading or purchase order, in any spelling. */
export const ShipmentSearchQuery = Schema.Struct({ reference: Schema.String })

/** A delivery about the shipment, with the area of its subscription. */
const JourneyDelivery = Schema.Struct({ ...DeliveryView.fields, area: SubscriptionArea })
export type JourneyDelivery = typeof JourneyDelivery.Type

/** What all areas know of a shipment, in the order of time, with its deliveries. If no area states its accounts, they are those of its bills and pickups. */
export const ShipmentJourney = Schema.Struct({
  shipmentId: Schema.String,
  proNumber: Schema.NullOr(Schema.String),
  bolNumber: Schema.NullOr(Schema.String),
  accounts: Schema.Array(Schema.String.annotate({ description: "An account that has access." })),
  entries: Schema.Array(JourneyEntry).annotate({ description: "Oldest first." }),
  truncated: Schema.Boolean.annotate({ description: "Whether older entries were left out." }),
  // without those of charge windows, which cover many shipments
  deliveries: Schema.Array(JourneyDelivery).annotate({ description: "Deliveries with data of the shipment, newest first." }),
  deliveriesSince: Schema.NullOr(InstantText).annotate({ description: "Deliveries before this instant were not searched; null if all were searched." })
}).annotate({ identifier: "ShipmentJourney" })
export type ShipmentJourney = typeof ShipmentJourney.Type

/** Shows operators a shipment across all areas. */
export class ShipmentJourneys extends Context.Service<ShipmentJourneys, {
  /** Finds at most 20 shipments by shipmentId, PRO, bill of lading or purchase order. */
  readonly find: (tenantId: string, query: typeof ShipmentSearchQuery.Encoded) => Effect.Effect<{ readonly data: ReadonlyArray<FoundShipment> }, InvalidInput | StorageError>
  /** Finds a shipment by its shipmentId, or by its PRO if no area knows its shipmentId. */
  readonly get: (tenantId: string, shipmentId: string) => Effect.Effect<ShipmentJourney, ShipmentNotFound | StorageError>
}>()("@waybill/core/journey/ShipmentJourneys") {
  static readonly layer = Layer.effect(ShipmentJourneys, Effect.gen(function*() {
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
  }))
}
