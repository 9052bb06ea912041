/** A patch without a status keeps the status, also under concurrent changes. SPEC-GAP-D10 */
import { layer } from "@effect/vitest"
import { DeliveryStore } from "@waybill/core/delivery"
import { TransitEvents, TransitSubscriptions } from "@waybill/core/transit-events"
import { reportedEvent, TestWaybill } from "@waybill/testkit"
import { fixtures, workerFixtures } from "@waybill/conformance/suites"
import { Effect, Fiber } from "effect"
import { assert } from "vitest"
import { PgClient } from "../../src/index.ts"
import { openTransaction, runBlocked, untilOneIsBlocked } from "../OpenTransaction.ts"
import { testService } from "../TestService.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"

const { freshTenant, letSee } = fixtures
const { acquire, changeOf, drain } = workerFixtures

const schema = freshSchema()

const service = testService(testStorage(schema))

const endpointUrl = "https://receiver.example/hook"
const changed = { delivery: { batchMaxSize: 7 } }

const hold = (statements: string, tenantId: string) =>
  Effect.flatMap(PgClient.PgClient, (sql) =>
    Effect.forEach(statements.replaceAll("@", `"${schema}".`).split("; "), (each) => sql.unsafe(each, each.includes("$1") ? [tenantId] : [])))

layer(service, { excludeTestServices: true })("a patch during another change of the status", (it) => {
  for (const [before, meanwhile] of [["active", "paused"], ["active", "inactive"], ["inactive", "active"]] as const) {
    it.effect(`waits for a patch from ${before} to ${meanwhile}, and keeps it`, Effect.fnUntraced(function*() {
      const subscriptions = yield* TransitSubscriptions
      const tenant = yield* TestWaybill.tenant(freshTenant())
      const customer = tenant.customer("client", ["A"])
      const { id } = yield* TestWaybill.subscribe(tenant, customer, { endpointUrl })
      if (before !== "active") yield* subscriptions.patch(customer, id, { status: before })
      const [, answered] = yield* runBlocked(subscriptions.patch(customer, id, { status: meanwhile }), subscriptions.patch(customer, id, changed))
      const stored = yield* subscriptions.get(customer, id)
      assert.deepStrictEqual([answered.status, stored.status, stored.delivery?.batchMaxSize], [meanwhile, meanwhile, 7])
      yield* (yield* TransitEvents).append(tenant.carrier, [reportedEvent("S", { accounts: ["A"] })])
      assert.lengthOf((yield* drain(tenant.tenantId)).sent, meanwhile === "active" ? 1 : 0)
    }))
  }

  for (
    const [when, held, patch] of [
      ["before it could read", "SELECT FROM @transit_subscriptions WHERE tenant_id = $1 FOR UPDATE", changed],
      ["between reading and writing", "SELECT $1::text; LOCK TABLE @secrets", { ...changed, hmacSecretId: "main" }]
    ] as const
  ) {
    it.effect(`keeps the pause of a worker after 410 that comes ${when}`, Effect.fnUntraced(function*() {
      const [subscriptions, store] = [yield* TransitSubscriptions, yield* DeliveryStore]
      const tenant = yield* TestWaybill.tenant(freshTenant())
      const { tenantId } = tenant
      // a call with a key does not record access of its client, so only the held lock can delay it
      const customer = { ...tenant.customer("client", ["A"]), origin: "key" as const }
      yield* letSee(tenantId, "client", ["A"])
      const { id } = yield* TestWaybill.subscribe(tenant, customer, { endpointUrl })
      yield* (yield* TransitEvents).append(tenant.carrier, [reportedEvent("S", { accounts: ["A"] })])
      const worker = yield* acquire(tenantId)
      const release = yield* openTransaction(hold(held, tenantId))
      const patching = yield* Effect.forkChild(subscriptions.patch(customer, id, patch))
      yield* untilOneIsBlocked
      const pause = store.settle({
        tenantId,
        owned: worker.owned,
        outcomes: [],
        ended: [],
        destinations: [changeOf(1, { destinationId: id, endpointUrl, pause: "The receiver answered 410." })]
      })
      const { locked } = yield* pause
      yield* release
      yield* Fiber.join(patching)
      if (locked.length > 0) yield* pause
      const stored = yield* subscriptions.get(customer, id)
      assert.deepStrictEqual([stored.status, stored.delivery?.batchMaxSize], ["paused", 7])
    }))
  }
})
