/** Queue entries of windows: how many bytes they announce, and whose windows are split when a client loses an account. */
import { layer } from "@effect/vitest"
import { ChargeSubscriptionStore } from "@waybill/core/freight-charges"
import { chargeFixtures, fixtures, workerFixtures } from "@waybill/conformance/suites"
import { Effect } from "effect"
import { assert } from "vitest"
import { rowsIn } from "../TestService.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"

const { publishBills, subscribeToCharges } = chargeFixtures
const { freshTenant, idOf, letSee } = fixtures
const { acquire, drop, takeOne } = workerFixtures

const schema = freshSchema()
const rows = rowsIn(schema)

const ended = (now: number) => ({ closesAt: now - 1, following: now + 600_000 })

const sizes = (tenantId: string) =>
  Effect.map(rows<{ size: number }>("SELECT size FROM @delivery_entries WHERE tenant_id = $1", [tenantId]), (found) => found.map(({ size }) => size))

layer(testStorage(schema), { excludeTestServices: true })("entries of windows", (it) => {
  it.effect("have the length of their body, also for what is left of a window", Effect.fnUntraced(function*() {
    const [store, tenantId] = [yield* ChargeSubscriptionStore, freshTenant()]
    yield* letSee(tenantId, "client", ["A", "C"])
    yield* subscribeToCharges(tenantId, { accounts: ["A", "C"], source: "freight-charge-windows" })
    yield* publishBills(tenantId, [{ billId: "1", accounts: ["A"] }, { billId: "2", accounts: ["C"] }, { billId: "3", accounts: ["A"] }], { window: ended })
    yield* store.closeWindows(tenantId)
    assert.deepStrictEqual(yield* sizes(tenantId), ["1/1,2/1,3/1".length])
    yield* letSee(tenantId, "client", ["A"])
    const worker = yield* acquire(tenantId)
    yield* drop(worker, { keys: [{ destinationId: idOf(1), key: "window" }] })
    assert.deepStrictEqual(yield* sizes(tenantId), ["1/1,3/1".length])
    assert.strictEqual((yield* takeOne(worker)).body.length, "1/1,3/1".length)
  }))

  it.effect("come from no window that has the number of a dropped notice", Effect.fnUntraced(function*() {
    const [store, tenantId] = [yield* ChargeSubscriptionStore, freshTenant()]
    yield* letSee(tenantId, "windows", ["A"])
    yield* letSee(tenantId, "real time", ["A", "C"])
    yield* subscribeToCharges(tenantId, { n: 1, client: "windows", source: "freight-charge-windows" })
    yield* subscribeToCharges(tenantId, { n: 2, client: "real time", accounts: ["C"] })
    yield* publishBills(tenantId, [{ billId: "1" }], { window: ended })
    yield* store.closeWindows(tenantId)
    yield* publishBills(tenantId, [{ billId: "2", accounts: ["C"] }])
    const [notice] = yield* rows<{ ref: string }>("SELECT ref FROM @delivery_entries WHERE tenant_id = $1 AND destination_id = $2", [tenantId, idOf(2)])
    yield* rows(
      "INSERT INTO @freight_charge_windows (tenant_id, window_no, subscription_id, closed_at, notices, first_notice) OVERRIDING SYSTEM VALUE SELECT tenant_id, $2, subscription_id, closed_at, notices, first_notice FROM @freight_charge_windows WHERE tenant_id = $1",
      [tenantId, notice!.ref]
    )
    yield* letSee(tenantId, "real time", ["A"])
    assert.strictEqual((yield* drop(yield* acquire(tenantId), { keys: [{ destinationId: idOf(2), key: "2" }] })).dropped, 1)
    assert.lengthOf(yield* sizes(tenantId), 1)
  }))

  it.effect("are of as many subscriptions at once as have few bills together", Effect.fnUntraced(function*() {
    const [store, tenantId] = [yield* ChargeSubscriptionStore, freshTenant()]
    yield* rows(
      `INSERT INTO @freight_charge_subscriptions (tenant_id, id, client, doc, webhook_url, created_at, closes_at)
       SELECT $1, id::uuid, 'c', '{}', '', now(), now() - place * interval '1 second' FROM unnest($2::text[]) WITH ORDINALITY AS g (id, place)`,
      [tenantId, [idOf(1), idOf(2), idOf(3), idOf(4)]]
    )
    yield* rows(
      `INSERT INTO @freight_charge_collected (tenant_id, subscription_id, closes_at, bill_id, notice_no)
       SELECT tenant_id, id, closes_at, n::text, n FROM @freight_charge_subscriptions CROSS JOIN generate_series(1, 3000) AS n WHERE tenant_id = $1 AND id <> $2`,
      [tenantId, idOf(1)]
    )
    assert.deepStrictEqual(yield* store.closeWindows(tenantId), { closed: 2, more: true })
    // the last one has nothing collected
    assert.deepStrictEqual(yield* store.closeWindows(tenantId), { closed: 1, more: true })
    assert.deepStrictEqual(yield* store.closeWindows(tenantId), { closed: 0, more: false })
  }))
})
