/** Conformance of `AccessStore`. The suite of the event log tests which events clients see. */
import { AccessStore, accountWithin, carrierGrants, type StoredApiKey, type Tenant } from "@waybill/core"
import { assert } from "@effect/vitest"
import { Effect, Option } from "effect"
import { allPages, bytesOf, freshTenant, idOf, letSee, seesShipment, storeNow, subscribe } from "../StorageFixtures.ts"
import { beginning, storeSuite, unchanged } from "../StoreSuite.ts"

const key = (n: number, parts: Partial<StoredApiKey> = {}): StoredApiKey => ({
  id: idOf(n),
  name: "warehouse",
  roles: ["customer"],
  accounts: ["A"],
  hash: bytesOf(`hash ${n}`),
  ...parts
})

const findKey = (tenantId: string, id: string) =>
  Effect.flatMap(AccessStore, (store) => Effect.map(store.findKeys(tenantId, [id]), ([found]) => found!))

const everyOne = { after: undefined, limit: 100_000 }

export const suite = storeSuite("AccessStore", AccessStore, (test) => {
  const withTenant = beginning(test, ({ store, tenantId }) => store.putTenant({ tenantId, name: "Acme", hosts: [] }))

  test("finds a tenant with its last stored values", function*({ store, tenantId }) {
    assert.isTrue(Option.isNone(yield* store.findTenant(tenantId)))
    yield* store.putTenant({ tenantId, name: "Acme", hosts: ["a.example"] })
    const renamed = { tenantId, name: "Acme \"Fracht\" & Söhne, {Inc}", hosts: ["b.example", "c.example"] }
    yield* store.putTenant(renamed)
    assert.deepStrictEqual(Option.getOrThrow(yield* store.findTenant(tenantId)), { ...renamed, state: "active" })
  })

  test("tells its time in whole milliseconds", function*({ store, tenantId }) {
    const before = yield* storeNow(tenantId)
    const now = yield* store.now
    assert.isTrue(Number.isInteger(now))
    assert.isAtLeast(now, Math.floor(before))
    assert.isAtMost(now, yield* storeNow(tenantId))
  })

  test("lists every tenant once, by id", function*({ store }) {
    const mine = [freshTenant(), freshTenant(), freshTenant()]
    for (const tenantId of mine) yield* store.putTenant({ tenantId, name: "One", hosts: [] })
    yield* store.putTenant({ tenantId: mine[0]!, name: "Again", hosts: [] })
    const listed = (yield* store.listTenants).map((each) => each.tenantId).filter((each) => mine.includes(each))
    assert.deepStrictEqual(listed, mine.toSorted())
  })

  test("lists tenants page by page, by id", function*({ store }) {
    const mine = [freshTenant(), freshTenant(), freshTenant()].toSorted()
    for (const tenantId of mine) yield* store.putTenant({ tenantId, name: tenantId, hosts: ["a.example"] })
    const pages = allPages(2, (after: Tenant | undefined) => store.pageTenants({ after: after?.tenantId, limit: 2 }))
    const walked = (yield* pages).map((each) => each.tenantId)
    assert.deepStrictEqual(walked, walked.toSorted())
    assert.deepStrictEqual(walked.filter((each) => mine.includes(each)), mine)
    assert.deepStrictEqual(yield* store.pageTenants({ after: walked.at(-1)!, limit: 2 }), [])
    assert.lengthOf(yield* store.pageTenants({ after: undefined, limit: 2 }), 2)
  })

  test("finds a tenant's last stored limits with its name and hosts", function*({ store, tenantId }) {
    assert.isTrue(Option.isNone(yield* store.findLimits(tenantId)))
    yield* store.putLimits(tenantId, "{\"subscriptions\":1}")
    assert.isTrue(Option.isNone(yield* store.findLimits(tenantId)))
    yield* store.putTenant({ tenantId, name: "Acme", hosts: ["a.example"] })
    assert.isUndefined(Option.getOrThrow(yield* store.findLimits(tenantId)))
    yield* store.putLimits(tenantId, "{\"subscriptions\":2}")
    yield* store.putTenant({ tenantId, name: "Acme again", hosts: [] })
    assert.strictEqual(Option.getOrThrow(yield* store.findLimits(tenantId)), "{\"subscriptions\":2}")
    assert.strictEqual(Option.getOrThrow(yield* store.findLimits(tenantId, true)), "{\"subscriptions\":2}")
    assert.strictEqual(Option.getOrThrow(yield* store.findTenant(tenantId)).name, "Acme again")
    assert.isTrue(Option.isNone(yield* store.findLimits(freshTenant())))
  })

  withTenant("finds a key with all its stored fields", function*({ store, tenantId }) {
    const full = key(1, {
      roles: ["carrier", "customer"],
      accounts: ["A,B", "{C}", "\"D\"", "\\E", "NULL", "ä 船"],
      dot: "1234567",
      mc: "MC-9",
      hash: Uint8Array.from([0, 1, 127, 128, 255])
    })
    yield* store.addKey(tenantId, full)
    yield* store.addKey(tenantId, key(2))
    const found = Option.getOrThrow(yield* findKey(tenantId, idOf(1)))
    assert.deepStrictEqual({ ...found, hash: [...found.hash] }, { ...full, hash: [...full.hash], tenantState: "active" })
    assert.deepStrictEqual(Object.keys(Option.getOrThrow(yield* findKey(tenantId, idOf(2)))).includes("dot"), false)
  })

  withTenant("finds several keys at once, in the requested order and with repeats", function*({ store, tenantId }) {
    for (const n of [1, 2, 3]) yield* store.addKey(tenantId, key(n))
    yield* store.revokeKey(tenantId, idOf(2))
    const found = yield* store.findKeys(tenantId, [idOf(3), idOf(2), "no id", idOf(1), idOf(3)])
    assert.deepStrictEqual(found.map((each) => Option.getOrUndefined(each)?.id), [idOf(3), undefined, undefined, idOf(1), idOf(3)])
    assert.deepStrictEqual(yield* store.findKeys(tenantId, []), [])
  })

  test("finds no key for an unknown or malformed id", function*({ store, tenantId }) {
    for (const id of [idOf(9), "", "no id", "-".repeat(36), "e".repeat(36)]) {
      assert.isTrue(Option.isNone(yield* findKey(tenantId, id)), id)
      assert.isTrue(Option.isNone(yield* store.revokeKey(tenantId, id)), id)
    }
  })

  withTenant("returns a revoked key once, and does not find it afterwards", function*({ store, tenantId }) {
    yield* store.addKey(tenantId, key(1))
    assert.strictEqual(Option.getOrThrow(yield* store.revokeKey(tenantId, idOf(1))).name, "warehouse")
    assert.isTrue(Option.isNone(yield* store.revokeKey(tenantId, idOf(1))))
    assert.isTrue(Option.isNone(yield* findKey(tenantId, idOf(1))))
  })

  test("tells which carrier numbers are another carrier's", function*({ store, tenantId }) {
    const own = carrierGrants({ dot: "1" })
    const [three, four] = [carrierGrants({ mc: "3" }), carrierGrants({ mc: "4" })]
    const isOthers = (number: ReadonlyArray<string>, of = own, within = tenantId) => store.isOthersNumber(within, number[0]!, of)
    yield* letSee(tenantId, "key:one", [...carrierGrants({ dot: "1", mc: "2" }), accountWithin(four[0]!, "A")])
    yield* letSee(tenantId, "key:two", carrierGrants({ dot: "3", mc: "2" }))
    yield* letSee(tenantId, "key:three", three, "token")
    assert.isFalse(yield* isOthers(carrierGrants({ mc: "2" })), "one of the clients with it has the own number, too")
    assert.isTrue(yield* isOthers(three))
    assert.isTrue(yield* isOthers(three, []))
    assert.isFalse(yield* isOthers(four), "accounts within a carrier are no numbers")
    assert.isFalse(yield* isOthers(carrierGrants({ dot: "4" })), "numbers have kinds")
    assert.isFalse(yield* isOthers(three, own, freshTenant()), "of another tenant")
    yield* store.holdClient(tenantId, { client: "key:three", origin: "token", until: 0, reviewAt: 0 })
    assert.isTrue(yield* isOthers(three), "a client that is held keeps its numbers")
    yield* letSee(tenantId, "key:three", own)
    assert.isFalse(yield* isOthers(three), "numbers of several sources are one client's")
    yield* store.dropClient(tenantId, "key:three")
    assert.isFalse(yield* isOthers(three))
    assert.isTrue(yield* isOthers(carrierGrants({ dot: "3" })))
  })

  withTenant("lists the live keys of one client", function*({ store, tenantId }) {
    for (const n of [1, 2, 3]) yield* store.addKey(tenantId, key(n))
    yield* store.addKey(tenantId, key(4, { name: "somebody else" }))
    yield* store.revokeKey(tenantId, idOf(2))
    assert.deepStrictEqual((yield* store.keysOf(tenantId, "warehouse")).map((each) => each.id).sort(), [idOf(1), idOf(3)])
    assert.deepStrictEqual(yield* store.keysOf(tenantId, "nobody"), [])
  })

  withTenant("finds no key of a deleted tenant, and reports suspended tenants", function*({ store, tenantId }) {
    yield* store.addKey(tenantId, key(1))
    assert.strictEqual(Option.getOrThrow(yield* store.setTenantState(tenantId, "suspended")).state, "suspended")
    assert.strictEqual(Option.getOrThrow(yield* findKey(tenantId, idOf(1))).tenantState, "suspended")
    assert.strictEqual(Option.getOrThrow(yield* store.putTenant({ tenantId, name: "Again", hosts: [] })).state, "suspended")
    assert.strictEqual(Option.getOrThrow(yield* store.setTenantState(tenantId, "active")).state, "active")
    assert.notInclude(yield* store.deletedTenants(everyOne), tenantId)
    assert.isTrue(yield* store.deleteTenant(tenantId))
    assert.isFalse(yield* store.deleteTenant(tenantId))
    assert.isTrue(Option.isNone(yield* findKey(tenantId, idOf(1))))
    assert.isTrue(Option.isNone(yield* store.findTenant(tenantId)))
    assert.isTrue(Option.isNone(yield* store.findLimits(tenantId)))
    assert.isTrue(Option.isNone(yield* store.findLimits(tenantId, true)))
    assert.notInclude((yield* store.pageTenants({ after: tenantId.slice(0, -1), limit: 1 })).map((each) => each.tenantId), tenantId)
    assert.isTrue(Option.isNone(yield* store.setTenantState(tenantId, "active")))
    assert.isTrue(Option.isNone(yield* store.putTenant({ tenantId, name: "Again", hosts: [] })))
    assert.notInclude((yield* store.listTenants).map((each) => each.tenantId), tenantId)
    assert.include(yield* store.deletedTenants(everyOne), tenantId)
  })

  test("lists deleted tenants page by page, by id", function*({ store }) {
    const mine = [freshTenant(), freshTenant(), freshTenant()]
    for (const tenantId of mine) {
      yield* store.putTenant({ tenantId, name: "Acme", hosts: [] })
      yield* store.deleteTenant(tenantId)
    }
    const all = yield* store.deletedTenants(everyOne)
    assert.deepStrictEqual(all, all.toSorted())
    assert.deepStrictEqual(yield* store.deletedTenants({ after: all[0], limit: 2 }), all.slice(1, 3))
  })

  test("removes all rows of a deleted tenant in steps, then its own row, and keeps other tenants", function*({ other, store, tenantId }) {
    for (const each of [tenantId, other]) {
      yield* store.putTenant({ tenantId: each, name: "Acme", hosts: [] })
      for (const n of [1, 2, 3]) yield* store.addKey(each, key(n))
      yield* store.putClientAccess(each, { client: "key:warehouse", origin: "key", seesAll: false, accounts: ["A"] })
    }
    yield* store.deleteTenant(tenantId)
    let steps = 0
    for (let removed = 1; removed > 0; steps++) {
      removed = yield* store.purgeTenant(tenantId, 2)
      assert.isAtMost(removed, 2)
    }
    assert.isAbove(steps, 1)
    assert.isFalse(yield* store.dropTenant(tenantId, 3_600_000))
    assert.isTrue(yield* store.dropTenant(tenantId, -1))
    assert.isFalse(yield* store.dropTenant(other, -1))
    assert.isTrue(Option.isSome(yield* store.putTenant({ tenantId, name: "Again", hosts: [] })))
    assert.deepStrictEqual(yield* store.pageKeys(tenantId, { after: undefined, limit: 9 }), [])
    assert.deepStrictEqual(yield* store.pageClients(tenantId, { after: undefined, limit: 9 }), [])
    assert.lengthOf(yield* store.pageKeys(other, { after: undefined, limit: 9 }), 3)
  })

  withTenant("finds a key until it expires, and lists it afterwards", function*({ store, tenantId }) {
    const now = yield* storeNow(tenantId)
    yield* store.addKey(tenantId, key(1, { expiresAt: now + 3_600_000 }))
    yield* store.addKey(tenantId, key(2, { expiresAt: now - 1 }))
    assert.strictEqual(Option.getOrThrow(yield* findKey(tenantId, idOf(1))).expiresAt, now + 3_600_000)
    assert.isTrue(Option.isNone(yield* findKey(tenantId, idOf(2))))
    assert.deepStrictEqual((yield* store.keysOf(tenantId, "warehouse")).map(({ id }) => id), [idOf(1)])
    const listed = yield* store.pageKeys(tenantId, { after: undefined, limit: 10 })
    assert.deepStrictEqual(listed.map(({ expiresAt, id }) => [id, expiresAt]), [[idOf(1), now + 3_600_000], [idOf(2), now - 1]])
  })

  withTenant("lists keys page by page with their last use and without hashes", function*({ store, tenantId }) {
    for (const n of [3, 1, 4, 2]) yield* store.addKey(tenantId, key(n))
    yield* store.revokeKey(tenantId, idOf(3))
    yield* store.putClientAccess(tenantId, { client: "key:warehouse", origin: "key", seesAll: false, accounts: ["A"] })
    const use = (n: number, at: number) => ({ id: idOf(n), client: "key:warehouse", at })
    yield* store.putClientAccess(tenantId, { client: "other", origin: "key", seesAll: false, accounts: ["A"] })
    yield* store.touchKeys(tenantId, [use(2, 2_000), use(1, 1_000)])
    yield* store.touchKeys(tenantId, [use(2, 1_500), use(9, 9_000)])
    yield* store.touchKeys(tenantId, [use(1, 1_200), use(9, 8_000)])
    const first = yield* store.pageKeys(tenantId, { after: undefined, limit: 2 })
    const second = yield* store.pageKeys(tenantId, { after: idOf(2), limit: 2 })
    assert.deepStrictEqual([...first, ...second].map(({ id, lastUsedAt }) => [id, lastUsedAt]), [[idOf(1), 1_200], [idOf(2), 2_000], [idOf(4), undefined]])
    assert.isFalse([...first, ...second].some((each) => "hash" in each))
    const clients = yield* store.pageClients(tenantId, { after: undefined, limit: 9 })
    assert.deepStrictEqual(clients.map(({ client, lastSeenAt }) => [client, lastSeenAt]), [["key:warehouse", 9_000], ["other", undefined]])
  })

  test("notes the use of a key for its own source of the client only", function*({ store, tenantId }) {
    const client = "key:warehouse"
    for (const origin of ["key", "token"] as const) yield* store.putClientAccess(tenantId, { client, origin, seesAll: false, accounts: [] })
    const at = (yield* storeNow(tenantId)) + 60_000
    yield* store.touchKeys(tenantId, [{ id: idOf(1), client, at }])
    const lastSeen = Effect.map(store.pageClients(tenantId, { after: undefined, limit: 1 }), ([found]) => found!.lastSeenAt)
    assert.strictEqual(yield* lastSeen, at)
    yield* store.putClientAccess(tenantId, { client, origin: "key", seesAll: false, accounts: [] })
    assert.strictEqual(yield* lastSeen, at)
    yield* store.dropClient(tenantId, client, "key")
    assert.isBelow((yield* lastSeen)!, at)
  })

  withTenant("revokes every key with the same name", function*({ store, tenantId }) {
    for (const n of [1, 2]) yield* store.addKey(tenantId, key(n))
    yield* store.addKey(tenantId, key(3, { name: "somebody else" }))
    yield* store.revokeKeysOf(tenantId, "warehouse")
    assert.deepStrictEqual((yield* store.pageKeys(tenantId, { after: undefined, limit: 10 })).map(({ id }) => id), [idOf(3)])
  })

  withTenant("lists clients combined from their sources: roles, accounts, keys, and whether one source is live", function*({ other, store, tenantId }) {
    for (const n of [1, 2]) yield* store.addKey(tenantId, key(n))
    // none of these is a live key of a client below
    yield* store.revokeKey(tenantId, idOf(2))
    yield* store.addKey(tenantId, key(3, { expiresAt: (yield* storeNow(tenantId)) - 1 }))
    for (const [n, name] of [[4, "somebody else"], [5, "idp:warehouse"]] as const) yield* store.addKey(tenantId, key(n, { name }))
    yield* store.putClientAccess(tenantId, { client: "key:warehouse", origin: "key", seesAll: false, accounts: ["A"], roles: ["customer"] })
    yield* store.putClientAccess(tenantId, { client: "key:warehouse", origin: "token", seesAll: true, accounts: ["A", "B"], roles: ["carrier", "customer"] })
    yield* store.putClientAccess(tenantId, { client: "jwt:idp:warehouse", origin: "token", seesAll: false, accounts: ["C"], live: { forMillis: 3_600_000 } })
    yield* store.putTenant({ tenantId: other, name: "Other", hosts: [] })
    yield* store.addKey(other, key(1))
    yield* store.putClientAccess(other, { client: "key:warehouse", origin: "key", seesAll: false, accounts: ["D"], roles: ["operator"] })
    for (const [tenant, n, client] of [[tenantId, 1, "key:warehouse"], [tenantId, 2, "somebody"], [other, 1, "key:warehouse"], [other, 2, "jwt:idp:warehouse"]] as const) yield* subscribe(tenant, { n, client })
    const page = yield* store.pageClients(tenantId, { after: undefined, limit: 10 })
    assert.deepStrictEqual(page.map(({ lastSeenAt: _, ...each }) => each), [
      { client: "jwt:idp:warehouse", roles: [], accounts: ["C"], keys: 0, subscriptions: 0, live: true },
      { client: "key:warehouse", roles: ["carrier", "customer"], accounts: ["A", "B"], keys: 1, subscriptions: 1, live: true }
    ])
    assert.isTrue(page.every(({ lastSeenAt }) => lastSeenAt !== undefined))
    assert.deepStrictEqual((yield* store.pageClients(tenantId, { after: "jwt:idp:warehouse", limit: 10 })).map(({ client }) => client), ["key:warehouse"])
  })

  test("holds a client source by source, and removes dropped sources", function*({ store, tenantId }) {
    const client = "key:warehouse"
    const live = Effect.map(store.pageClients(tenantId, { after: undefined, limit: 1 }), ([found]) => found?.live)
    const other = { client: "key:zebra", origin: "key", seesAll: false, accounts: ["Z"] } as const
    for (const origin of ["key", "token"] as const) yield* store.putClientAccess(tenantId, { client, origin, seesAll: false, accounts: [origin] })
    const { now } = yield* store.clientRows(tenantId, client)
    const hold = (origin: "key" | "token") => store.holdClient(tenantId, { client, origin, until: now - 1_000, reviewAt: now - 500 })
    assert.isUndefined(yield* store.findClientState(tenantId, "key:nobody"))
    yield* hold("key")
    assert.isTrue(yield* live)
    assert.strictEqual(yield* store.findClientState(tenantId, client), "live")
    yield* hold("token")
    assert.isFalse(yield* live)
    assert.strictEqual(yield* store.findClientState(tenantId, client), "held")
    assert.isFalse(yield* store.putClientAccess(tenantId, other))
    assert.isFalse(yield* store.putClientAccess(tenantId, other), "it is live")
    yield* hold("key")
    assert.strictEqual(yield* store.findClientState(tenantId, other.client), "live")
    const held = yield* store.clientRows(tenantId, client)
    assert.deepStrictEqual(held.rows.map(({ liveUntil, origin }) => [origin, liveUntil]).sort(), [["key", now - 1_000], ["token", now - 1_000]])
    assert.deepStrictEqual(yield* store.clientsDue(tenantId, everyOne), [client])
    assert.isTrue(yield* store.putClientAccess(tenantId, { client, origin: "key", seesAll: false, accounts: ["key"] }), "it was held")
    assert.deepStrictEqual((yield* store.pageClients(tenantId, { after: undefined, limit: 1 })).map(({ accounts }) => accounts), [["key", "token"]])
    yield* store.dropClient(tenantId, client, "key")
    assert.deepStrictEqual((yield* store.pageClients(tenantId, { after: undefined, limit: 1 })).map(({ accounts }) => accounts), [["token"]])
    yield* store.dropClient(tenantId, client)
    assert.deepStrictEqual((yield* store.clientRows(tenantId, client)).rows, [])
    assert.deepStrictEqual((yield* store.pageClients(tenantId, { after: undefined, limit: 9 })).map(({ accounts, client }) => [client, accounts]), [[other.client, other.accounts]])
  })

  test("marks a known or unknown client for removal, and clears the mark", function*({ store, tenantId }) {
    yield* store.putClientAccess(tenantId, { client: "key:known", origin: "key", seesAll: false, accounts: ["A"] })
    for (const client of ["key:known", "key:unknown"]) {
      yield* store.markEnding(tenantId, client, idOf(7))
      assert.strictEqual((yield* store.clientRows(tenantId, client)).endingThrough, idOf(7))
      assert.include(yield* store.clientsDue(tenantId, everyOne), client)
      assert.isFalse(yield* seesShipment(tenantId, client, "S"))
    }
    assert.deepStrictEqual((yield* store.pageClients(tenantId, { after: undefined, limit: 9 })).map(({ lastSeenAt, live }) => [live, lastSeenAt]), [[false, undefined], [false, undefined]])
    yield* store.putClientAccess(tenantId, { client: "key:known", origin: "key", seesAll: false, accounts: ["A"] })
    assert.strictEqual((yield* store.clientRows(tenantId, "key:known")).endingThrough, idOf(7))
    yield* store.markEnding(tenantId, "key:known", undefined)
    assert.isUndefined((yield* store.clientRows(tenantId, "key:known")).endingThrough)
    assert.strictEqual((yield* store.clientRows(tenantId, "key:unknown")).endingThrough, idOf(7))
    assert.isTrue((yield* store.pageClients(tenantId, { after: undefined, limit: 1 })).every(({ live }) => live))
  })

  test("keeps the end of access that a client for removal already had", function*({ store, tenantId }) {
    const now = yield* storeNow(tenantId)
    yield* store.putClientAccess(tenantId, { client: "client", origin: "key", seesAll: false, accounts: ["A"], live: { until: now - 60_000 } })
    yield* store.markEnding(tenantId, "client", idOf(7))
    assert.deepStrictEqual((yield* store.clientRows(tenantId, "client")).rows.map(({ liveUntil }) => liveUntil), [now - 60_000])
    // it is not looked at again and again
    yield* store.putClientAccess(tenantId, { client: "client", origin: "key", seesAll: false, accounts: ["A"] })
    yield* store.markEnding(tenantId, "client", idOf(7))
    yield* store.putClientAccess(tenantId, { client: "client", origin: "key", seesAll: false, accounts: ["A"] })
    yield* store.markEnding(tenantId, "client", undefined)
    assert.deepStrictEqual(yield* store.clientsDue(tenantId, everyOne), [])
    assert.notInclude(yield* store.tenantsWithClientsDue(everyOne), tenantId)
  })

  test("names tenants with clients that are due for review, and these clients, page by page", function*({ store }) {
    const own = [freshTenant(), freshTenant()].toSorted()
    for (const tenantId of own) {
      const now = yield* storeNow(tenantId)
      for (const [client, age] of [["one", 1000], ["two", 3000], ["three", 2000], ["later", -60_000]] as const) {
        yield* store.putClientAccess(tenantId, { client, origin: "key", seesAll: false, accounts: [], reviewAt: now - age })
      }
      yield* store.putClientAccess(tenantId, { client: "zero", origin: "token", seesAll: false, accounts: [], live: { until: now - 1 } })
    }
    const named = yield* store.tenantsWithClientsDue(everyOne)
    assert.deepStrictEqual(named, named.toSorted())
    assert.deepStrictEqual(named.filter((tenantId) => own.includes(tenantId)), own)
    assert.deepStrictEqual(yield* store.tenantsWithClientsDue({ after: named[0], limit: 1 }), named.slice(1, 2))
    assert.deepStrictEqual(yield* store.clientsDue(own[0]!, { after: undefined, limit: 2 }), ["one", "three"])
    assert.deepStrictEqual(yield* store.clientsDue(own[0]!, { after: "three", limit: 3 }), ["two", "zero"])
  })

  test("changes no key and no client of another tenant with the same ids", function*({ other, store, tenantId }) {
    for (const each of [tenantId, other]) {
      yield* store.putTenant({ tenantId: each, name: "Acme", hosts: [] })
      yield* store.putLimits(each, "{\"subscriptions\":1}")
      yield* store.addKey(each, key(1))
      for (const origin of ["key", "token"] as const) {
        yield* store.putClientAccess(each, { client: "client", origin, seesAll: false, accounts: ["A"], roles: [each === other ? "customer" : "carrier"] })
      }
    }
    const clientRows = Effect.map(store.clientRows(other, "client"), ({ endingThrough, rows }) => ({ endingThrough, rows }))
    const stored = Effect.all([store.findTenant(other), store.findLimits(other), store.pageKeys(other, everyOne), store.pageClients(other, everyOne), clientRows, store.findClientState(other, "client")])
    yield* unchanged(stored, Effect.gen(function*() {
      const now = yield* storeNow(tenantId)
      yield* store.putLimits(tenantId, "{}")
      yield* store.setTenantState(tenantId, "suspended")
      yield* store.touchKeys(tenantId, [{ id: idOf(1), client: "client", at: now + 60_000 }])
      yield* store.putClientAccess(tenantId, { client: "client", origin: "key", seesAll: true, accounts: [] })
      yield* store.holdClient(tenantId, { client: "client", origin: "key", until: now - 2, reviewAt: now - 1 })
      yield* store.markEnding(tenantId, "client", idOf(7))
    }))
    const page = Effect.map(store.pageClients(tenantId, everyOne), ([client]) => client?.roles)
    assert.deepStrictEqual(yield* page, ["carrier"])
    yield* store.markEnding(other, "client", idOf(8))
    yield* unchanged(stored, Effect.gen(function*() {
      yield* store.markEnding(tenantId, "client", undefined)
      yield* store.dropClient(tenantId, "client", "key")
      yield* store.dropClient(tenantId, "client")
      yield* store.revokeKeysOf(tenantId, "warehouse")
    }))
    for (const each of [tenantId, other]) yield* store.deleteTenant(each)
    yield* store.dropTenant(tenantId, -1)
    assert.deepStrictEqual((yield* store.deletedTenants(everyOne)).filter((each) => each === tenantId || each === other), [other])
  })

  test("isolates tenants that share ids", function*({ other, store, tenantId: one }) {
    for (const tenantId of [one, other]) yield* store.putTenant({ tenantId, name: tenantId, hosts: [] })
    yield* store.addKey(one, key(1, { dot: "1" }))
    assert.isTrue(Option.isNone(yield* findKey(other, idOf(1))))
    assert.deepStrictEqual(yield* store.keysOf(other, "warehouse"), [])
    assert.isTrue(Option.isNone(yield* store.revokeKey(other, idOf(1))))
    yield* store.addKey(other, key(1, { dot: "2" }))
    yield* store.revokeKey(other, idOf(1))
    assert.strictEqual(Option.getOrThrow(yield* findKey(one, idOf(1))).dot, "1")
  })
})
