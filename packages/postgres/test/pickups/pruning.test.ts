/** Pruning of pickups concurrent with writes. */
import { layer } from "@effect/vitest"
import { PickupStore } from "@waybill/core/pickups"
import { fixtures } from "@waybill/conformance/suites"
import { Effect, Fiber, Option } from "effect"
import { assert } from "vitest"
import { PgClient } from "../../src/index.ts"
import { openTransaction, untilOneIsBlocked } from "../OpenTransaction.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"
import { pauseNextRead } from "../PausedReads.ts"

const { freshTenant, idOf, occurredAt } = fixtures
const schema = freshSchema()

layer(testStorage(schema), { excludeTestServices: true })("pruning an old pickup", (it) => {
  it.effect("during a report removes the report's rows as well, or keeps the pickup", Effect.fnUntraced(function*() {
    const store = yield* PickupStore
    const sql = yield* PgClient.PgClient
    const tenantId = freshTenant()
    const row = { pickupId: idOf(1), number: "1", isTest: false, client: "client", accounts: [], carrier: undefined, status: "Accepted", waits: false, doc: "{}", pros: ["P1"], createdAt: occurredAt }
    const change = { body: new Uint8Array(2), traceparent: undefined }
    yield* store.insert(tenantId, row, { pickupId: idOf(1), position: 1, at: occurredAt, doc: "{}" }, change)
    const before = { ordered: occurredAt + 1, answered: 0 }
    // replaces the table before other connections use it
    yield* Effect.flatten(pauseNextRead(schema, "pickups"))
    yield* store.findById(tenantId, "all", idOf(1))
    const commit = yield* openTransaction(Effect.gen(function*() {
      yield* store.findById(tenantId, "all", idOf(1), true)
      yield* store.update(tenantId, { ...row, pros: ["P1", "P2"] }, { pickupId: idOf(1), position: 2, at: occurredAt, doc: "{\"secret\":true}" }, change)
    }))
    const resume = yield* pauseNextRead(schema, "pickups")
    const pruning = yield* Effect.forkChild(store.prune(tenantId, before))
    yield* untilOneIsBlocked
    yield* commit
    yield* resume
    const pruned = yield* Fiber.join(pruning)
    const count = (table: string) => Effect.map(sql.unsafe<{ n: number }>(`SELECT count(*)::int AS n FROM "${schema}".${table} WHERE tenant_id = '${tenantId}'`), ([each]) => each!.n)
    const left = () => Effect.all([count("pickups"), count("pickup_pros"), count("pickup_history"), count("pickup_changes")])
    const first = yield* left()
    yield* store.prune(tenantId, before)
    const second = yield* left()
    assert.deepStrictEqual([second, Option.isNone(yield* store.findById(tenantId, "all", idOf(1)))], [[0, 0, 0, 0], true], `${pruned} ${first}`)
  }))
})
