/** Conformance of `AuditStore`. */
import { type AuditRecord, AuditStore } from "@waybill/core"
import { assert } from "@effect/vitest"
import { storeSuite } from "../StoreSuite.ts"

/** Unique ids, oldest first. */
const base = Date.now()
let count = 0
const nextId = (): string => `${(base - 1_000_000 + count++).toString(16).padStart(12, "0").replace(/^(.{8})/, "$1-")}-7000-8000-${crypto.randomUUID().slice(-12)}`

const record = (tenantId: string, parts: Partial<AuditRecord> = {}): AuditRecord => ({
  id: nextId(),
  at: 1_763_600_000_000 + count,
  actor: { kind: "operator", name: `operator ${tenantId}` },
  address: "192.0.2.1",
  action: "tenant.put",
  tenantId,
  object: { kind: "tenant", id: tenantId },
  result: "ok",
  status: 200,
  requestId: "request",
  ...parts
})

const anything = { tenantId: undefined, actor: undefined, from: undefined, before: undefined, limit: 100 }

export const suite = storeSuite("AuditStore", AuditStore, (test) => {
  test("lists stored entries newest first, by tenant and by actor", function*({ other, store, tenantId: one }) {
    const odd = { actor: { kind: "client", name: `key:"ä" {1}, ${one}` }, address: undefined, object: { kind: "api-key", id: "" } } as const
    const entries = [record(one), record(other), record(one, odd), record(one, { result: "refused", status: 403 })] as const
    yield* store.put(entries)
    assert.deepStrictEqual(yield* store.page({ ...anything, tenantId: one }), [entries[3], entries[2], entries[0]])
    assert.deepStrictEqual(yield* store.page({ ...anything, actor: odd.actor.name }), [entries[2]])
    const own = entries[0].actor.name
    assert.deepStrictEqual(yield* store.page({ ...anything, actor: own }), [entries[3], entries[0]])
    assert.deepStrictEqual(yield* store.page({ ...anything, actor: own, tenantId: one }), [entries[3], entries[0]])
    assert.deepStrictEqual(yield* store.page({ ...anything, actor: own, tenantId: other }), [])
    for (const range of [{ actor: own }, { tenantId: one }, { actor: own, tenantId: one }]) assert.deepStrictEqual(yield* store.page({ ...anything, ...range, limit: 1 }), [entries[3]])
    assert.deepStrictEqual(yield* store.page({ ...anything, actor: odd.actor.name, tenantId: one, limit: 1 }), [entries[2]])
    assert.deepStrictEqual(yield* store.page({ ...anything, actor: odd.actor.name, before: entries[2].id }), [])
    const all = (yield* store.page({ ...anything, from: entries[0].id })).map(({ id }) => id)
    assert.deepStrictEqual(all.filter((id) => entries.some((each) => each.id === id)), entries.map(({ id }) => id).toReversed())
  })

  test("lists a range of ids without its end", function*({ store, tenantId }) {
    const entries = [record(tenantId), record(tenantId), record(tenantId)] as const
    yield* store.put(entries)
    assert.deepStrictEqual(yield* store.page({ ...anything, tenantId, from: entries[1].id, before: entries[2].id }), [entries[1]])
    assert.deepStrictEqual(yield* store.page({ ...anything, tenantId, before: entries[0].id }), [])
  })

  test("sets the outcome of an existing entry and changes nothing else", function*({ store, tenantId }) {
    const begun = record(tenantId, { status: 0 })
    yield* store.put([begun])
    yield* store.put([{ ...begun, action: "other", object: { kind: "tenant", id: "made" }, result: "refused", status: 409 }])
    assert.deepStrictEqual(yield* store.page({ ...anything, tenantId }), [
      { ...begun, object: { kind: "tenant", id: "made" }, result: "refused", status: 409 }
    ])
    yield* store.put([])
  })

  test("keeps the entries of a deleted tenant", function*({ access, store, tenantId }) {
    yield* access.putTenant({ tenantId, name: "Acme", hosts: [] })
    const deletion = record(tenantId, { action: "tenant.delete" })
    yield* store.put([deletion])
    yield* access.deleteTenant(tenantId)
    while ((yield* access.purgeTenant(tenantId, 1000)) > 0);
    assert.isTrue(yield* access.dropTenant(tenantId, -1))
    assert.deepStrictEqual(yield* store.page({ ...anything, tenantId }), [deletion])
  })

  test("removes entries older than an id, of every tenant", function*({ other, store, tenantId: one }) {
    const old = (n: number) => `00000000-000${n}-7000-8000-${crypto.randomUUID().slice(-12)}`
    const kept = record(one)
    yield* store.put([record(one, { id: old(1) }), record(other, { id: old(2) }), record("", { id: old(3) }), kept])
    const before = "00000000-0004-7000-8000-000000000000"
    assert.isAtLeast(yield* store.prune(before), 3)
    assert.strictEqual(yield* store.prune(before), 0)
    assert.deepStrictEqual(yield* store.page({ ...anything, tenantId: one }), [kept])
    assert.deepStrictEqual(yield* store.page({ ...anything, tenantId: other }), [])
  })
})
