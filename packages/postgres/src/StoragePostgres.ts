/** All storage ports on Postgres, in one schema. Building the layer applies missing migrations. */
import { Effect, Layer } from "effect"
import * as AccessStorePostgres from "./access/AccessStorePostgres.ts"
import * as AuditStorePostgres from "./audit/AuditStorePostgres.ts"
import { PgClient } from "./client/PgClient.ts"
import * as DeliveryControlPostgres from "./delivery/DeliveryControlPostgres.ts"
import * as DeliveryQueuePostgres from "./delivery/DeliveryQueuePostgres.ts"
import * as SecretStorePostgres from "./delivery/SecretStorePostgres.ts"
import * as WakeupsPostgres from "./delivery/WakeupsPostgres.ts"
import * as ChargeSubscriptionStorePostgres from "./freight-charges/ChargeSubscriptionStorePostgres.ts"
import { freightChargePayloads, freightChargeWindowPayloads } from "./freight-charges/FreightBillSql.ts"
import * as FreightBillStorePostgres from "./freight-charges/FreightBillStorePostgres.ts"
import * as DocumentContentsPostgres from "./invoices/DocumentContentsPostgres.ts"
import * as DocumentStorePostgres from "./invoices/DocumentStorePostgres.ts"
import * as InvoiceStorePostgres from "./invoices/InvoiceStorePostgres.ts"
import { migrations } from "./migrations/index.ts"
import { migrate, pending, quoteSchema } from "./migrations/Migrations.ts"
import { forgetForeignSnapshots } from "./migrations/ForeignSnapshots.ts"
import * as PickupStorePostgres from "./pickups/PickupStorePostgres.ts"
import { WaybillSchema } from "./shared/Schema.ts"
import * as TransactionPostgres from "./shared/TransactionPostgres.ts"
import { shipmentStatusPayloads } from "./shipment-status/ShipmentStatusSql.ts"
import * as ShipmentStatusStorePostgres from "./shipment-status/ShipmentStatusStorePostgres.ts"
import * as StatusSubscriptionStorePostgres from "./shipment-status/StatusSubscriptionStorePostgres.ts"
import { transitEventPayloads } from "./transit-events/TransitEventSql.ts"
import * as TransitEventStorePostgres from "./transit-events/TransitEventStorePostgres.ts"
import * as TransitSubscriptionStorePostgres from "./transit-events/TransitSubscriptionStorePostgres.ts"

export interface StoragePostgresOptions {
  /** The schema that holds every table; `waybill` by default. */
  readonly schema?: string
  /** True (the default) applies missing migrations; false fails when one is missing, for hosts that apply them with their own tool. */
  readonly migrate?: boolean
  /** Whether this process listens for wake-ups of others; only delivering processes need to. True by default. */
  readonly listen?: boolean
}

/** Tables that hold the bytes of entries. */
const payloads = [transitEventPayloads, shipmentStatusPayloads, freightChargePayloads, freightChargeWindowPayloads]

/** Uses the `PgClient` in the context, with its own pool or the host's. */
export const layer = (options: StoragePostgresOptions = {}) => {
  const name = options.schema ?? "waybill"
  const upToDate = Effect.gen(function*() {
    const target = { schema: name, migrations }
    if (options.migrate === false) {
      const missing = yield* pending(target)
      if (missing.length > 0) {
        return yield* Effect.die(new Error(
          `Schema ${name} lacks the migrations ${missing.map((each) => each.name).join(", ")}. Apply them, or let this process do it.`
        ))
      }
    } else {
      yield* migrate(target)
    }
    yield* forgetForeignSnapshots(quoteSchema(name))
  })
  return Layer.mergeAll(
    TransactionPostgres.layer,
    AccessStorePostgres.layer,
    AuditStorePostgres.layer,
    SecretStorePostgres.layer,
    TransitEventStorePostgres.layer,
    TransitSubscriptionStorePostgres.layer,
    ShipmentStatusStorePostgres.layer,
    StatusSubscriptionStorePostgres.layer,
    FreightBillStorePostgres.layer,
    ChargeSubscriptionStorePostgres.layer,
    PickupStorePostgres.layer,
    InvoiceStorePostgres.layer,
    DocumentStorePostgres.layer,
    DocumentContentsPostgres.layer,
    DeliveryQueuePostgres.layer(payloads),
    DeliveryControlPostgres.layer(payloads),
    WakeupsPostgres.layer({ listen: options.listen ?? true })
  ).pipe(
    Layer.provide(Layer.succeed(WaybillSchema, { name, quoted: quoteSchema(name) })),
    Layer.provide(Layer.effectDiscard(upToDate))
  )
}

export { PgClient }
