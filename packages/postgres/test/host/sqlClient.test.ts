/** Publishing inside a transaction of the program's own SqlClient. */
import { TransitEventIntake } from "@waybill/core"
import { DeliveryWorker, Wakeups } from "@waybill/core/delivery"
import { reportedEvent, ScriptedReceivers, TestWaybill } from "@waybill/testkit"
import { assert, layer } from "@effect/vitest"
import { Effect, Fiber, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { inject } from "vitest"
import { StoragePostgres } from "../../src/index.ts"
import { freshSchema } from "../TestStorage.ts"
import { testService } from "../TestService.ts"

const endpointUrl = "https://receiver.example/hook"
const schema = freshSchema()

const dropped = Layer.effectDiscard(Effect.acquireRelease(
  Effect.void,
  () => Effect.orDie(Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)))
))

const storage = Layer.provideMerge(dropped, StoragePostgres.layerUrl({ url: Redacted.make(inject("pgUrl")), schema }))

layer(testService(storage), { excludeTestServices: true })("an event published in a transaction of SqlClient", (it) => {
  const orders = Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    return { sql, table: sql(`${schema}.orders`) }
  })

  /** Subscribes a customer, and returns a call that stores an order and publishes its event. */
  const prepare = Effect.gen(function*() {
    const { sql, table } = yield* orders
    yield* sql`CREATE TABLE IF NOT EXISTS ${table} (id text PRIMARY KEY)`
    const tenant = yield* TestWaybill.tenant(`t${Math.random().toString(36).slice(2)}`)
    yield* TestWaybill.subscribe(tenant, tenant.customer("shipper", ["A-1"]), { endpointUrl })
    const intake = yield* TransitEventIntake
    const pickUp = (id: string) =>
      Effect.gen(function*() {
        yield* sql`INSERT INTO ${table} ${sql.insert({ id })}`
        yield* intake.report(tenant.carrier, { events: [reportedEvent(id, { accounts: ["A-1"] })] })
      })
    return { pickUp, tenantId: tenant.tenantId }
  })

  const delivered = Effect.gen(function*() {
    yield* Effect.flatMap(DeliveryWorker, (worker) => worker.drain)
    const events = yield* Effect.flatMap(ScriptedReceivers, (receivers) => receivers.deliveredEvents(endpointUrl))
    return events.map(({ shipment }) => shipment.shipmentId)
  })

  const stored = Effect.gen(function*() {
    const { sql, table } = yield* orders
    return (yield* sql<{ readonly id: string }>`SELECT id FROM ${table}`).map(({ id }) => id)
  })

  it.effect("is delivered when the transaction commits, and leaves nothing when it rolls back", Effect.fnUntraced(function*() {
    const { pickUp } = yield* prepare
    const { sql } = yield* orders
    yield* sql.withTransaction(pickUp("committed"))
    yield* Effect.flip(sql.withTransaction(Effect.andThen(pickUp("rolled back"), Effect.fail("the truck broke down"))))
    assert.deepStrictEqual(yield* stored, ["committed"])
    assert.deepStrictEqual(yield* delivered, ["committed"])
  }), 30_000)

  it.effect("wakes the workers when the transaction commits, not before", Effect.fnUntraced(function*() {
    const { pickUp, tenantId } = yield* prepare
    const { sql } = yield* orders
    const wakeups = yield* Wakeups
    // the subscription woke them already
    yield* wakeups.next
    const woken = yield* Effect.forkChild(Effect.repeat(wakeups.next, { until: (tenantIds) => tenantIds.has(tenantId) }))
    yield* sql.withTransaction(Effect.gen(function*() {
      yield* pickUp("in the transaction")
      yield* Effect.forEach(Array.from({ length: 50 }), () => Effect.yieldNow, { discard: true })
      assert.isUndefined(woken.pollUnsafe())
    }))
    yield* Fiber.join(woken)
  }), 30_000)
})
