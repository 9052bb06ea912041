import { assert, describe, it } from "@effect/vitest"
import { AccessStore, type StoredApiKey } from "@waybill/core"
import { Effect } from "effect"
import * as Clock from "effect/Clock"
import { TestClock } from "effect/testing"
import { heldMillis } from "../../src/access/AccessOptions.ts"
import { reviewClient } from "../../src/access/ClientReview.ts"
import { inService } from "../inService.ts"

const hour = 3_600_000
const client = "key:warehouse"

const key = (n: number, expiresAt: number | undefined, account: string): StoredApiKey => ({
  id: `00000000-0000-7000-8000-00000000000${n}`,
  name: "warehouse",
  roles: ["customer"],
  accounts: [account],
  hash: new Uint8Array(32),
  ...(expiresAt === undefined ? {} : { expiresAt })
})

/** A tenant with these keys of one client. */
const withKeys = Effect.fnUntraced(function*(...keys: ReadonlyArray<StoredApiKey>) {
  const store = yield* AccessStore
  yield* store.putTenant({ tenantId: "acme", name: "Acme", hosts: [] })
  for (const each of keys) yield* store.addKey("acme", each)
  const accounts = Effect.map(store.pageClients("acme", { after: undefined, limit: 9 }), ([found]) => found?.accounts)
  const liveUntil = Effect.map(store.clientRows("acme", client), ({ rows }) => rows.map((each) => each.liveUntil))
  const isDue = Effect.map(store.clientsDue("acme", { after: undefined, limit: 9 }), (due) => due.includes(client))
  return { store, review: reviewClient(store, "acme", client), accounts, liveUntil, isDue }
})

describe("the access of a client with keys", () => {
  it.effect("lasts until its last key expires, and is computed again when the first one does", () =>
    inService(Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const { accounts, isDue, liveUntil, review } = yield* withKeys(key(1, now + 2 * hour, "A"), key(2, now + hour, "B"))
      assert.strictEqual(yield* review, "live")
      assert.deepStrictEqual([yield* accounts, yield* liveUntil], [["A", "B"], [now + 2 * hour]])
      yield* TestClock.adjust(hour - 1)
      assert.isFalse(yield* isDue)
      yield* TestClock.adjust(1)
      assert.isTrue(yield* isDue)
      assert.strictEqual(yield* review, "live")
      assert.deepStrictEqual([yield* accounts, yield* liveUntil], [["A"], [now + 2 * hour]])
      yield* TestClock.adjust(hour)
      assert.strictEqual(yield* review, "held")
      assert.deepStrictEqual([yield* accounts, yield* liveUntil], [["A"], [now + 2 * hour]])
    })))

  it.effect("has no end while one key has none", () =>
    inService(Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const { liveUntil, review } = yield* withKeys(key(1, undefined, "A"), key(2, now + hour, "B"))
      assert.strictEqual(yield* review, "live")
      assert.deepStrictEqual(yield* liveUntil, [Infinity])
    })))

  it.effect("is held from when the last of its sources ended, and then expired", () =>
    inService(Effect.gen(function*() {
      const now = yield* Clock.currentTimeMillis
      const { review, store } = yield* withKeys(key(1, now + hour, "A"))
      yield* store.putClientAccess("acme", { client, origin: "token", seesAll: false, accounts: ["A"], live: { until: now + 2 * hour } })
      assert.strictEqual(yield* review, "live")
      yield* TestClock.adjust(2 * hour)
      assert.strictEqual(yield* review, "held")
      yield* TestClock.adjust(heldMillis - 1)
      assert.strictEqual(yield* review, "held")
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* review, "expired")
    })))

  it.effect("is ending while the client is removed, whatever keys it has", () =>
    inService(Effect.gen(function*() {
      const { review, store } = yield* withKeys(key(1, undefined, "A"))
      yield* store.markEnding("acme", client, "00000000-0000-7000-8000-000000000009")
      assert.strictEqual(yield* review, "ending")
    })))
})
