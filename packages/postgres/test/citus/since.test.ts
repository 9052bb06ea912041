/** What was stored since a position, on distributed tables: the coordinator assigns ids of transactions and commits before the nodes. Run by `npm run citus`. */
import { layer } from "@effect/vitest"
import { Transaction } from "@waybill/core"
import { InvoiceStore } from "@waybill/core/invoices"
import { TransitEventStore } from "@waybill/core/transit-events"
import { fixtures } from "@waybill/conformance/suites"
import { Effect, Fiber } from "effect"
import { assert } from "vitest"
import { PgClient } from "../../src/index.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"

const all = { _tag: "All" } as const
const schema = freshSchema()

/** Runs commands one after the other on the node of a tenant. `@shard` is its table of events there. */
const onNodeOf = Effect.fnUntraced(function*(tenantId: string, commands: string) {
  const sql = yield* PgClient.PgClient
  const [answer] = yield* sql.unsafe<{ readonly success: boolean; readonly result: string }>(
    `SELECT r.success, r.result
     FROM citus_shards AS s, LATERAL master_run_on_worker(
       ARRAY[s.nodename], ARRAY[s.nodeport], ARRAY[replace($2::text, '@shard', shard_name('"${schema}".transit_events', s.shardid))], false
     ) AS r
     WHERE s.shardid = get_shard_id_for_distribution_column('"${schema}".transit_events', $1::text)`,
    [tenantId, commands]
  )
  assert.isTrue(answer!.success, answer!.result)
})

layer(testStorage(schema), { excludeTestServices: true })("what was stored since a position, on Citus", (it) => {
  const since = (tenantId: string, position: string | undefined) => Effect.flatMap(TransitEventStore, (store) => store.since(tenantId, all, position, 7))

  it.effect("waits for a transaction that the coordinator has committed and the node has only prepared", Effect.fnUntraced(function*() {
    const tenantId = fixtures.freshTenant()
    const { position } = yield* since(tenantId, undefined)
    yield* fixtures.publish(tenantId, [{ shipmentId: "S", eventId: "done" }])
    // another event of the same transaction, which the coordinator knows as committed. Citus recovers only transactions of its own group, 0
    const prepared = `citus_99_${tenantId}`
    yield* onNodeOf(tenantId, `BEGIN;
      INSERT INTO @shard SELECT (jsonb_populate_record(e, '{"event_id": "prepared", "event_no": 2, "sequence": 2}')).* FROM @shard AS e WHERE e.tenant_id = '${tenantId}';
      PREPARE TRANSACTION '${prepared}'`)
    const waited = yield* since(tenantId, position).pipe(
      Effect.ensuring(Effect.orDie(onNodeOf(tenantId, `COMMIT PREPARED '${prepared}'`)))
    )
    assert.deepStrictEqual(waited, { rows: [], position, more: false })
    const found = yield* since(tenantId, position)
    assert.deepStrictEqual(found.rows.map(({ eventId }) => eventId), ["done", "prepared"])
    assert.deepStrictEqual((yield* since(tenantId, found.position)).rows, [])
  }), 60_000)

  it.effect("has each event and each invoice once, while they are written", Effect.fnUntraced(function*() {
    const [events, invoices, transaction] = [yield* TransitEventStore, yield* InvoiceStore, yield* Transaction]
    const tenantId = fixtures.freshTenant()
    const [writers, rounds] = [6, 20]
    const ids = (kind: string) => Array.from({ length: writers * rounds }, (_, n) => `${kind}${n}`).sort()
    const invoice = { carrier: { dot: "1", mc: "2" }, shipmentId: "S", invoiceNumber: "4711", accounts: [], body: fixtures.bytesOf("{}") }
    let position = (yield* since(tenantId, undefined)).position
    let ofInvoices = (yield* invoices.since(tenantId, all, undefined, 7)).position
    const writing = yield* Effect.forkChild(Effect.forEach(
      Array.from({ length: writers * rounds }, (_, n) => n),
      (n) =>
        Effect.andThen(
          fixtures.publish(tenantId, [{ shipmentId: `S${n % writers}`, eventId: `E${n}` }]),
          transaction.run(invoices.put(tenantId, { ...invoice, uniqueId: `I${n}` }))
        ),
      { concurrency: writers, discard: true }
    ))
    const seen: Array<string> = []
    const look = Effect.gen(function*() {
      const page = yield* events.since(tenantId, all, position, 7)
      const billed = yield* invoices.since(tenantId, all, ofInvoices, 7)
      position = page.position
      ofInvoices = billed.position
      seen.push(...page.rows.map(({ eventId }) => eventId), ...billed.rows.map(({ uniqueId }) => uniqueId))
      return page.more || billed.more
    })
    while (writing.pollUnsafe() === undefined) yield* look
    yield* Fiber.join(writing)
    while (yield* look);
    assert.deepStrictEqual(seen.sort(), [...ids("E"), ...ids("I")])
  }), 120_000)
})
