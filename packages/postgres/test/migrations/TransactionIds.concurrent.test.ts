/** Two processes that start at the same time on a database from another cluster. */
import { layer } from "@effect/vitest"
import { fixtures } from "@waybill/conformance/suites"
import { Effect, Fiber } from "effect"
import { assert } from "vitest"
import { PgClient, Sql } from "../../src/index.ts"
import { resetForeignTransactionIds } from "../../src/migrations/TransactionIds.ts"
import { openTransaction, untilOneIsBlocked } from "../OpenTransaction.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"

const { freshTenant, seed } = fixtures
const schema = freshSchema()

layer(testStorage(schema), { excludeTestServices: true })("transaction ids of another cluster", (it) => {
  it.effect("are reset once among concurrent processes", Effect.fnUntraced(function*() {
    const sql = yield* PgClient.PgClient
    const tenantId = freshTenant()
    yield* sql.unsafe(`UPDATE "${schema}".cluster SET system_identifier = '1'`)
    const first = yield* openTransaction(resetForeignTransactionIds(Sql.raw(`"${schema}"`)))
    const second = yield* Effect.forkChild(resetForeignTransactionIds(Sql.raw(`"${schema}"`)))
    yield* untilOneIsBlocked
    // the first process has started; an event stored now is certainly older than the second process's reset
    yield* seed(tenantId, { S: 1 })
    yield* first
    yield* Fiber.join(second)
    const [row] = yield* sql.unsafe<{ xid: string }>(`SELECT xid::text AS xid FROM "${schema}".transit_events WHERE tenant_id = '${tenantId}'`)
    assert.notStrictEqual(row!.xid, "3")
  }))
})
