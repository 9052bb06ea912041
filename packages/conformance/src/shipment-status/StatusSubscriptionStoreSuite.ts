/** Conformance of `StatusSubscriptionStore`. `StatusNoticesSuite.ts` tests matching. */
import { StatusSubscriptionStore } from "@waybill/core/shipment-status"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { freshTenant, idOf, letSee, occurredAt, rolledBack } from "../StorageFixtures.ts"
import { foreignIds, testDocuments } from "../shared/SubscriptionDocumentsSuite.ts"
import { drainedBodies } from "../WorkerFixtures.ts"
import { follow, followingClient, report } from "./StatusFixtures.ts"
import { storeSuite } from "../StoreSuite.ts"

const notify = (tenantId: string, shipmentId: string, sequence: number, references: ReadonlyArray<string> = ["r"]) =>
  report(tenantId, [{ shipmentId, references }], { accounts: ["A"], notices: [{ shipmentId, sequence }] })

export const suite = storeSuite("StatusSubscriptionStore", StatusSubscriptionStore, (test) => {
  test("matches new notices, and not earlier ones", function*({ tenantId }) {
    yield* letSee(tenantId, "client", ["A"])
    yield* notify(tenantId, "S", 1)
    yield* follow(tenantId, { references: ["r"] })
    yield* notify(tenantId, "S", 2)
    assert.deepStrictEqual(yield* drainedBodies(tenantId), { 1: ["S/2"] })
  })

  test("accepts references without a shipment, and compares them literally", function*({ tenantId }) {
    const odd = ["A,B", "{C}", "\"D\"", "\\E", "NULL", "Ä 船 😀", "%", "'"]
    yield* followingClient(tenantId, { n: 1, references: odd })
    for (const [at, reference] of odd.entries()) yield* follow(tenantId, { n: at + 2, references: [reference] })
    for (const [at, reference] of odd.entries()) yield* notify(tenantId, `S${at}`, 1, [reference])
    assert.deepStrictEqual(yield* drainedBodies(tenantId), {
      1: odd.map((_, at) => `S${at}/1`),
      ...Object.fromEntries(odd.map((_, at) => [at + 2, [`S${at}/1`]]))
    })
  })

  test("is queued a notice once for references that it names twice", function*({ tenantId }) {
    yield* followingClient(tenantId, { references: ["r", "s", "r"] })
    yield* report(tenantId, [{ shipmentId: "S", references: ["r", "s"] }], { accounts: ["A"], notices: [{ shipmentId: "S", sequence: 1 }] })
    assert.deepStrictEqual(yield* drainedBodies(tenantId), { 1: ["S/1"] })
  })

  test("accepts the maximum number of references", function*({ tenantId }) {
    yield* followingClient(tenantId, { references: Array.from({ length: 1000 }, (_, n) => `reference ${n}`) })
    yield* notify(tenantId, "S", 1, ["reference 7"])
    yield* notify(tenantId, "T", 1, ["reference 999"])
    assert.deepStrictEqual(yield* drainedBodies(tenantId), { 1: ["S/1", "T/1"] })
  })

  test("counts a client's subscriptions to the reference that it follows most", function*({ store, tenantId }) {
    const most = (client: string, references: ReadonlyArray<string>, atMost = 100) => store.mostOfReference(tenantId, client, references, atMost)
    assert.strictEqual(yield* most("client", ["r"]), 0)
    for (const [at, references] of [["r"], ["r", "s"], ["r"], ["t"]].entries()) yield* follow(tenantId, { n: at + 1, references })
    yield* follow(tenantId, { n: 5, client: "other", references: ["s", "s'"] })
    assert.strictEqual(yield* most("client", ["s", "r", "t"]), 3)
    assert.strictEqual(yield* most("client", ["s", "t"]), 1)
    assert.isAtLeast(yield* most("client", ["r"], 2), 2)
    assert.strictEqual(yield* most("other", ["r", "s'"]), 1)
    assert.strictEqual(yield* store.mostOfReference(freshTenant(), "client", ["r"], 100), 0)
    yield* store.remove(tenantId, "client", idOf(1))
    assert.strictEqual(yield* most("client", ["r"]), 2)
  })

  testDocuments(test, ({ documents, remove }) => ({ documents, end: remove }), (tenantId, n, client) => follow(tenantId, { n, client, references: ["r"] }))

  test("removes a client's own subscription once, and matches nothing for it afterwards", function*({ store, tenantId }) {
    yield* followingClient(tenantId, { n: 1, references: ["r", "q"] })
    yield* follow(tenantId, { n: 2, references: ["r"] })
    assert.isFalse(yield* store.remove(tenantId, "somebody else", idOf(1)))
    yield* notify(tenantId, "S", 1)
    assert.isTrue(yield* store.remove(tenantId, "client", idOf(1)))
    assert.isFalse(yield* store.remove(tenantId, "client", idOf(1)))
    yield* notify(tenantId, "S", 2, ["r", "q"])
    assert.deepStrictEqual(yield* drainedBodies(tenantId), { 1: ["S/1"], 2: ["S/1", "S/2"] })
  })

  test("removes nothing for an unknown or malformed id", function*({ store, tenantId }) {
    yield* follow(tenantId, { references: ["r"] })
    for (const id of foreignIds) assert.isFalse(yield* store.remove(tenantId, "client", id), id)
  })

  test("removes once among concurrent requests", function*({ queue, store, tenantId, transaction }) {
    yield* follow(tenantId, { references: ["r"] })
    const remove = transaction.run(Effect.andThen(store.remove(tenantId, "client", idOf(1)), (removed) =>
      removed ? Effect.as(queue.closeDestination(tenantId, idOf(1)), true) : Effect.succeed(false)))
    const answers = yield* Effect.all(Array.from({ length: 6 }, () => remove), { concurrency: "unbounded" })
    assert.deepStrictEqual(answers.filter((removed) => removed), [true])
  })

  test("leaves nothing behind when its transaction is rolled back", function*({ store, tenantId }) {
    yield* followingClient(tenantId, { n: 1 })
    yield* rolledBack(Effect.gen(function*() {
      yield* follow(tenantId, { n: 2, references: ["r"] })
      yield* store.remove(tenantId, "client", idOf(1))
    }))
    yield* notify(tenantId, "S", 1)
    assert.deepStrictEqual(yield* drainedBodies(tenantId), { 1: ["S/1"] })
    assert.isFalse(yield* store.remove(tenantId, "client", idOf(2)))
  })

  test("isolates tenants that share ids", function*({ other, store, tenantId: one }) {
    yield* letSee(one, "client", ["A"])
    yield* follow(one, { references: ["r"] })
    assert.isFalse(yield* store.remove(other, "client", idOf(1)))
    yield* store.insert(other, { id: idOf(1), client: "client", doc: "{}", references: ["r"], createdAt: occurredAt })
    assert.isTrue(yield* store.remove(other, "client", idOf(1)))
    assert.strictEqual((yield* store.documents(one, [idOf(1)])).size, 1)
    yield* notify(one, "S", 1)
    assert.deepStrictEqual(yield* drainedBodies(one), { 1: ["S/1"] })
  })
})
