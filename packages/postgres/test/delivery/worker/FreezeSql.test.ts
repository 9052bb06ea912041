import { layer } from "@effect/vitest"
import { fixtures, workerFixtures } from "@waybill/conformance/suites"
import { Effect } from "effect"
import { assert } from "vitest"
import { type Freeze, freeze, type FrozenEntry, frozenRow } from "../../../src/delivery/worker/FreezeSql.ts"
import { PgClient, Sql } from "../../../src/index.ts"
import { rowsIn } from "../../TestService.ts"
import { freshSchema, testStorage } from "../../TestStorage.ts"

const { freshTenant, idOf, seed } = fixtures
const { acquire, takeRequest } = workerFixtures

const schema = freshSchema()
const rows = rowsIn(schema)

/** By then another row may be at the location of one that was read. */
layer(testStorage(schema), { excludeTestServices: true })("the second statement of a take", (it) => {
  const freezing = Effect.fnUntraced(function*(worker: workerFixtures.OwningWorker, parts: Partial<Freeze>) {
    const sql = yield* PgClient.PgClient
    return yield* sql.rows(frozenRow, freeze(Sql.raw(`"${schema}"`), takeRequest(worker), { signals: [], entries: [], again: [], ...parts }))
  })

  it.effect("moves no entry other than the named one, if that is at its location", Effect.fnUntraced(function*() {
    const tenantId = freshTenant()
    yield* seed(tenantId, { S: 1 })
    const worker = yield* acquire(tenantId)
    const [{ location, ref } = assert.fail()] = yield* rows<{ ref: number; location: string }>("SELECT ref::int AS ref, ctid::text AS location FROM @delivery_entries WHERE tenant_id = $1", [tenantId])
    const moved = (parts: Partial<FrozenEntry>) => freezing(worker, { entries: [{ destinationId: idOf(1), ref, location, traceparent: null, ordinal: 0, ...parts }] })
    assert.deepStrictEqual(yield* moved({ ref: ref + 1 }), [])
    assert.deepStrictEqual(yield* moved({ destinationId: idOf(9) }), [])
    assert.deepStrictEqual(yield* moved({}), [{ partition: 1, entries: 1 }])
  }))

  it.effect("removes no signal that came later, and none of a partition that has another owner", Effect.fnUntraced(function*() {
    const tenantId = freshTenant()
    yield* seed(tenantId, { S: 1 })
    const worker = yield* acquire(tenantId)
    const signals = rows<{ no: number; location: string }>("SELECT signal_no::int AS no, ctid::text AS location FROM @delivery_signals WHERE tenant_id = $1", [tenantId])
    const [{ location, no } = assert.fail()] = yield* signals
    const former = { ...worker, owned: worker.owned.map((each) => each.partition === 1 ? { ...each, epoch: each.epoch - 1 } : each) }
    yield* freezing(worker, { signals: [{ no: no - 1, location }] })
    yield* freezing(former, { signals: [{ no, location }] })
    assert.lengthOf(yield* signals, 1)
    yield* freezing(worker, { signals: [{ no, location }] })
    assert.lengthOf(yield* signals, 0)
  }))
})
