/** Conformance of `MailStore`. */
import { AccessStore, type Mail, mailsPerTenant, MailStore } from "@waybill/core"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { eventually, freshTenant } from "../StorageFixtures.ts"
import { storeSuite } from "../StoreSuite.ts"

const client = "key:shipper"

const mailOf = (id: string): Mail => ({ id, to: "edi@shipper.example", subject: `Subject of ${id}`, text: "First line\nsecond line\n" })

/** Only tenants that exist get their mails sent. */
const tenantWithMail = Effect.fnUntraced(function*(...ids: ReadonlyArray<string>) {
  const tenantId = freshTenant()
  yield* Effect.flatMap(AccessStore, (access) => access.putTenant({ tenantId, name: "Acme", hosts: [] }))
  for (const id of ids) yield* Effect.flatMap(MailStore, (store) => store.put(tenantId, client, mailOf(id)))
  return tenantId
})

const minute = 60_000

const all = { after: undefined, limit: 1000 }

export const suite = storeSuite("MailStore", MailStore, (test) => {
  test("gives a due mail to one of several callers, as it was put, with its attempt counted", function*({ store }) {
    const tenantId = yield* tenantWithMail("a.1")
    const taken = yield* Effect.all(Array.from({ length: 8 }, () => store.take(tenantId, 5, minute)), { concurrency: "unbounded" })
    assert.strictEqual(taken.flat().length, 1)
    const { attempt, waitedMillis, ...mail } = taken.flat()[0]!
    assert.deepStrictEqual(mail, mailOf("a.1"))
    assert.strictEqual(attempt, 1)
    assert.isAtLeast(waitedMillis, 0)
    assert.isBelow(waitedMillis, minute)
  })

  test("gives a mail again when its lease has ended or it was postponed to now, and not after it was removed", function*({ store }) {
    const tenantId = yield* tenantWithMail("a.1", "a.2")
    assert.strictEqual((yield* store.take(tenantId, 5, 0)).length, 2)
    const again = yield* store.take(tenantId, 1, minute)
    assert.deepStrictEqual(again.map(({ attempt }) => attempt), [2])
    yield* store.postpone(tenantId, again[0]!.id, 0)
    assert.deepStrictEqual((yield* store.take(tenantId, 5, minute)).map(({ id }) => id).toSorted(), ["a.1", "a.2"])
    yield* store.postpone(tenantId, "a.1", 0)
    assert.deepStrictEqual((yield* store.take(tenantId, 5, minute)).map(({ id }) => id), ["a.1"])
    for (const id of ["a.1", "a.2", "a.3"]) yield* store.remove(tenantId, id)
    yield* store.postpone(tenantId, "a.1", 0)
    assert.deepStrictEqual(yield* store.take(tenantId, 5, minute), [])
  })

  test("gives the mails that are due longest first, and no more than asked for", function*({ store }) {
    const tenantId = yield* tenantWithMail("a.1", "a.2", "a.3", "a.4")
    for (const [id, minutes] of [["a.1", 1], ["a.2", 3], ["a.3", 2]] as const) yield* store.postpone(tenantId, id, -minutes * minute)
    yield* store.postpone(tenantId, "a.4", minute)
    assert.deepStrictEqual((yield* store.take(tenantId, 2, minute)).map(({ id }) => id), ["a.2", "a.3"])
    assert.deepStrictEqual((yield* store.take(tenantId, 2, minute)).map(({ id }) => id), ["a.1"])
    yield* store.remove(tenantId, "a.1")
    yield* store.postpone(tenantId, "a.2", 0)
    assert.deepStrictEqual((yield* store.take(tenantId, 2, minute)).map(({ id }) => id), ["a.2"])
  })

  test("gives a mail again when its lease has ended, however often callers ask before", function*({ store }) {
    const tenantId = yield* tenantWithMail("a.1")
    yield* store.take(tenantId, 1, 300)
    const [again] = yield* eventually(store.take(tenantId, 1, minute), (mails) => mails.length === 1)
    assert.strictEqual(again!.attempt, 2)
  })

  test("counts the time that a mail waits from when it was put, over all its attempts", function*({ store }) {
    const tenantId = yield* tenantWithMail("a.1")
    // each attempt and postponement sets a new due time
    const attempt = Effect.tap(store.take(tenantId, 1, minute), () => store.postpone(tenantId, "a.1", 0))
    const [last] = yield* eventually(attempt, ([mail]) => mail!.waitedMillis > 100)
    assert.isAbove(last!.attempt, 1)
  })

  test("keeps a mail once under its id, separately for each tenant", function*({ store }) {
    const tenantId = yield* tenantWithMail("a.1", "a.1")
    assert.deepStrictEqual(yield* store.take(freshTenant(), 5, minute), [])
    assert.strictEqual((yield* store.take(tenantId, 5, minute)).length, 1)
    assert.isTrue(yield* store.put(tenantId, client, { ...mailOf("a.1"), subject: "Another" }))
    assert.deepStrictEqual(yield* store.take(tenantId, 5, minute), [])
  })

  test("changes no mail of another tenant with the same id", function*({ store }) {
    const [tenantId, other] = [yield* tenantWithMail("a.1"), yield* tenantWithMail("a.1")]
    yield* store.take(tenantId, 5, minute)
    yield* store.postpone(tenantId, "a.1", minute)
    yield* store.remove(tenantId, "a.1")
    yield* store.put(tenantId, client, mailOf("a.1"))
    yield* store.prune(tenantId, Date.now() + 60 * minute)
    assert.deepStrictEqual((yield* store.take(other, 5, minute)).map(({ attempt, id }) => [id, attempt]), [["a.1", 1]])
  })

  test("names tenants with due mails, and no others", function*({ store }) {
    const [due, later, deleted] = [yield* tenantWithMail("a.1"), yield* tenantWithMail("a.1"), yield* tenantWithMail("a.1")]
    yield* store.take(later, 5, minute)
    yield* Effect.flatMap(AccessStore, (access) => access.deleteTenant(deleted))
    const named = yield* store.tenants(all)
    assert.include(named, due)
    for (const other of [later, deleted]) assert.notInclude(named, other)
    assert.deepStrictEqual(yield* store.tenants({ ...all, limit: 1 }), named.slice(0, 1))
    assert.deepStrictEqual(yield* store.tenants({ ...all, after: named[0] }), named.slice(1))
    assert.deepStrictEqual(named, named.toSorted())
    for (const tenantId of [due, deleted]) yield* store.remove(tenantId, "a.1")
    assert.notInclude(yield* store.tenants(all), due)
  })

  test("tells how long the mail that is due first has waited, without mails that are sent or tried again later", function*({ store }) {
    // mails of other tests in the same storage are due as well
    const leases = (tenantIds: ReadonlyArray<string>) => Effect.forEach(tenantIds, (tenantId) => store.take(tenantId, mailsPerTenant, minute), { discard: true })
    yield* Effect.flatMap(store.tenants(all), leases)
    assert.strictEqual(yield* store.lagMillis, 0)
    const tenantId = yield* tenantWithMail("a.1", "a.2")
    yield* store.postpone(tenantId, "a.1", -minute)
    const lag = yield* store.lagMillis
    assert.isAtLeast(lag, minute)
    assert.isBelow(lag, 2 * minute)
    yield* leases([tenantId])
    assert.strictEqual(yield* store.lagMillis, 0)
  })

  test("keeps nothing of a transaction that failed", function*({ store, transaction }) {
    const tenantId = yield* tenantWithMail()
    yield* Effect.flip(transaction.run(Effect.andThen(store.put(tenantId, client, mailOf("a.1")), Effect.fail("refused"))))
    assert.deepStrictEqual(yield* store.take(tenantId, 5, minute), [])
  })

  test("gives a client as many places as it leaves free for others, refuses mails beyond, and removes old ones in steps", function*({ store, transaction }) {
    const tenantId = yield* tenantWithMail()
    const kept = (of: string) => transaction.run(Effect.gen(function*() {
      for (let n = 0;; n++) {
        if (!(yield* store.put(tenantId, of, mailOf(`${of}.${n}`)))) return n
      }
    }))
    assert.deepStrictEqual([yield* kept("one"), yield* kept("another"), yield* kept("third")], [1_000, 500, 250])
    assert.strictEqual(yield* store.prune(tenantId, Date.now() - 3_600_000), 0)
    assert.strictEqual(yield* store.prune(tenantId, Date.now() + 3_600_000), 1_000)
    assert.isTrue(yield* store.put(tenantId, "one", mailOf("one.more")))
  })
})
