/** The program's own service: orders in its own table, published in the same transaction. */
import { type InvalidInput, type NotPermitted, type Principal, type StorageError, TransitEventIntake } from "@waybill/core"
import { Context, Effect, Layer, Metric, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"

const pickedUp = Metric.counter("orders_picked_up_total", { description: "Orders that were picked up.", incremental: true })

const tms: Principal = { tenantId: "acme", client: "key:tms", roles: ["carrier"], accounts: [], origin: "token" }

export class TruckLost extends Schema.TaggedError<TruckLost>()("TruckLost", { orderId: Schema.String }) {}

export class Orders extends Context.Service<Orders, {
  /** Stores the order and its event together, or neither. */
  readonly pickUp: (
    orderId: string,
    options: { readonly truckIsLost: boolean }
  ) => Effect.Effect<void, TruckLost | InvalidInput | NotPermitted | StorageError | SqlError>
  readonly all: Effect.Effect<ReadonlyArray<string>, SqlError>
}>()("example/Orders") {
  static readonly layer = Layer.effect(
    Orders,
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const intake = yield* TransitEventIntake
      yield* sql`CREATE TABLE IF NOT EXISTS example_orders (id text PRIMARY KEY)`
      yield* sql`TRUNCATE example_orders`

      const store = Effect.fnUntraced(function*(orderId: string, truckIsLost: boolean) {
        yield* sql`INSERT INTO example_orders ${sql.insert({ id: orderId })}`
        const terminal = { name: "Chicago terminal", city: "Chicago", state: "IL", country: "USA" }
        yield* intake.report(tms, {
          type: "PICKED_UP",
          occurredAt: "2026-11-20T08:15:00-06:00",
          shipment: { shipmentId: orderId, origin: terminal, destination: terminal },
          parties: { accounts: ["A-1"] }
        })
        if (truckIsLost) return yield* new TruckLost({ orderId })
      })

      return Orders.of({
        pickUp: Effect.fn("Orders.pickUp")(function*(orderId, { truckIsLost }) {
          yield* sql.withTransaction(store(orderId, truckIsLost))
          yield* Metric.update(pickedUp, 1)
        }),
        all: Effect.map(sql<{ readonly id: string }>`SELECT id FROM example_orders ORDER BY id`, (rows) => rows.map(({ id }) => id))
      })
    })
  )
}
