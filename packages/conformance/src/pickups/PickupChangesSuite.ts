/** Conformance of the work list of `PickupStore`, and of `PickupSignals`. */
import { changesPerRead, type PickupChangeRange, PickupSignals, PickupStore } from "@waybill/core/pickups"
import { assert } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { freshTenant, idOf, occurredAt, rolledBack, textOf } from "../StorageFixtures.ts"
import { change, historyEntry, order, pickupRow } from "./PickupFixtures.ts"
import { allOf, storeSuite, whileOpen } from "../StoreSuite.ts"

const everything: PickupChangeRange = { viewer: "all", after: 0, since: undefined, status: undefined, limit: 100, bytes: 1_000_000 }

const read = (tenantId: string, range: Partial<PickupChangeRange> = {}) =>
  Effect.flatMap(PickupStore, (store) => Effect.map(store.changes(tenantId, { ...everything, ...range }), (found) => ({
    ...found,
    bodies: found.entries.map(({ body }) => textOf(body))
  })))

const report = Effect.fnUntraced(function*(tenantId: string, n: number, position: number, parts: Parameters<typeof pickupRow>[1] = {}) {
  const store = yield* PickupStore
  yield* store.update(tenantId, pickupRow(n, parts), historyEntry(n, position), change(`report ${n}/${position}`))
})

const changes = storeSuite("PickupStore.changes", PickupStore, (test) => {
  test("returns each change once, in order, from any cursor", function*({ tenantId }) {
    assert.deepStrictEqual(yield* Effect.map(read(tenantId), ({ bodies, more, through }) => [bodies, more, through]), [[], false, 0])
    yield* order(tenantId, 1)
    yield* order(tenantId, 2)
    yield* report(tenantId, 1, 2)
    const all = yield* read(tenantId)
    assert.deepStrictEqual(all.bodies, ["ordered 1", "ordered 2", "report 1/2"])
    for (const [at, { changeNo }] of all.entries.entries()) {
      assert.deepStrictEqual((yield* read(tenantId, { after: changeNo })).bodies, all.bodies.slice(at + 1))
    }
    const last = all.entries.at(-1)!.changeNo
    for (const after of [last, last + 5]) assert.strictEqual((yield* read(tenantId, { after })).through, last)
    assert.deepStrictEqual((yield* read(freshTenant())).bodies, [])
  })

  test("does not list tests", function*({ store, tenantId }) {
    yield* store.insert(tenantId, pickupRow(1, { isTest: true }), historyEntry(1))
    assert.deepStrictEqual((yield* read(tenantId)).bodies, [])
  })

  test("leaves out what was rolled back, and numbers its successor", function*({ tenantId }) {
    yield* order(tenantId, 1)
    yield* rolledBack(order(tenantId, 2))
    yield* order(tenantId, 3)
    assert.deepStrictEqual((yield* read(tenantId)).bodies, ["ordered 1", "ordered 3"])
  })

  test("shows nothing after a change that is not committed", function*({ tenantId, transaction }) {
    yield* whileOpen((stayOpen) => transaction.run(Effect.andThen(order(tenantId, 1), stayOpen)), [order(tenantId, 2)])
    assert.deepStrictEqual((yield* read(tenantId)).bodies, ["ordered 1", "ordered 2"])
  })

  test("gives a poller every change of concurrent transactions exactly once", function*({ tenantId, transaction }) {
    const writing = yield* Effect.forkChild(Effect.all(
      Array.from({ length: 8 }, (_, n) => transaction.run(Effect.andThen(order(tenantId, n + 1), report(tenantId, n + 1, 2)))),
      { concurrency: "unbounded" }
    ))
    const seen: Array<string> = []
    for (let after = 0; seen.length < 16;) {
      const { bodies, entries, through } = yield* read(tenantId, { after, limit: 3 })
      seen.push(...bodies)
      after = entries.at(-1)?.changeNo ?? through
      yield* Effect.sleep(1)
    }
    yield* Fiber.join(writing)
    assert.strictEqual(new Set(seen).size, 16)
    for (let n = 1; n <= 8; n++) assert.isBelow(seen.indexOf(`ordered ${n}`), seen.indexOf(`report ${n}/2`))
  })

  test("filters by the pickup's present status and by time", function*({ tenantId }) {
    yield* order(tenantId, 1)
    yield* order(tenantId, 2)
    yield* report(tenantId, 1, 500, { status: "En Route" })
    yield* order(tenantId, 3)
    const last = (yield* read(tenantId)).entries.at(-1)!.changeNo
    assert.deepStrictEqual((yield* read(tenantId, { status: "En Route" })).bodies, ["ordered 1", "report 1/500"])
    assert.deepStrictEqual((yield* read(tenantId, { status: "Accepted" })).bodies, ["ordered 2", "ordered 3"])
    const none = yield* read(tenantId, { status: "Rejected" })
    assert.deepStrictEqual([none.bodies, none.through, none.more], [[], last, false])
    // the list is in the order of commits, so a change after a later one counts as late as that
    assert.deepStrictEqual((yield* read(tenantId, { since: occurredAt + 500 })).bodies, ["report 1/500", "ordered 3"])
    assert.deepStrictEqual((yield* read(tenantId, { since: occurredAt + 500, after: last - 1 })).bodies, ["ordered 3"])
    assert.deepStrictEqual((yield* read(tenantId, { since: occurredAt + 500, limit: 1 })).bodies, ["report 1/500"])
    assert.deepStrictEqual((yield* read(tenantId, { status: "Accepted", limit: 1 })).bodies, ["ordered 2"])
    const future = yield* read(tenantId, { since: occurredAt + 501 })
    assert.deepStrictEqual([future.bodies, future.through, future.more], [[], last, false])
    yield* report(tenantId, 2, 600)
    yield* report(tenantId, 3, 550)
    assert.deepStrictEqual((yield* read(tenantId, { since: occurredAt + 550 })).bodies, ["report 2/600", "report 3/550"])
    assert.deepStrictEqual((yield* read(tenantId, { since: occurredAt + 500 })).bodies, ["report 1/500", "ordered 3", "report 2/600", "report 3/550"])
  })

  test("shows carriers with a number what they or no carrier has decided", function*({ tenantId }) {
    yield* order(tenantId, 1)
    yield* order(tenantId, 2)
    const [one, other] = [{ carrier: [" dot 1"] }, { carrier: [" dot 2", " mc 1"] }]
    assert.deepStrictEqual((yield* read(tenantId, { viewer: other })).bodies, ["ordered 1", "ordered 2"])
    yield* report(tenantId, 1, 2, { carrier: [" dot 1"] })
    assert.deepStrictEqual((yield* read(tenantId, { viewer: one })).bodies, ["ordered 1", "ordered 2", "report 1/2"])
    assert.deepStrictEqual((yield* read(tenantId, { viewer: other })).bodies, ["ordered 2"])
    assert.deepStrictEqual((yield* read(tenantId, { viewer: one, limit: 1 })).bodies, ["ordered 1"])
  })

  test("limits rows and bytes, and returns at least one", function*({ tenantId }) {
    for (const n of [1, 2, 3]) yield* order(tenantId, n)
    assert.deepStrictEqual((yield* read(tenantId, { limit: 2 })).bodies, ["ordered 1", "ordered 2"])
    assert.deepStrictEqual((yield* read(tenantId, { bytes: 1 })).bodies, ["ordered 1"])
    assert.deepStrictEqual((yield* read(tenantId, { bytes: 18 })).bodies, ["ordered 1", "ordered 2"])
  })

  test("compares a limited number of changes per read, and says where it stopped", function*({ store, tenantId, transaction }) {
    yield* transaction.run(Effect.gen(function*() {
      yield* order(tenantId, 1)
      for (let n = 2; n <= changesPerRead + 1; n++) yield* store.update(tenantId, pickupRow(1), historyEntry(1, n), change("report"))
      yield* order(tenantId, 2, { status: "Call us" })
    }))
    const first = yield* read(tenantId, { status: "Call us" })
    assert.deepStrictEqual([first.bodies, first.more], [[], true])
    assert.deepStrictEqual((yield* read(tenantId, { status: "Call us", after: first.through })).bodies, ["ordered 2"])
  }, 120_000)

  test("prunes the changes of old pickups, and a cursor stays valid", function*({ store, tenantId }) {
    yield* order(tenantId, 1, { createdAt: 1000 })
    yield* order(tenantId, 2, { createdAt: 2000 })
    const [first] = (yield* read(tenantId)).entries
    assert.strictEqual(yield* store.prune(tenantId, { ordered: 1500, answered: 0 }), 1)
    assert.deepStrictEqual((yield* read(tenantId)).bodies, ["ordered 2"])
    assert.deepStrictEqual((yield* read(tenantId, { after: first!.changeNo })).bodies, ["ordered 2"])
  })
})

const signals = storeSuite("PickupSignals", PickupSignals, (test) => {
  test("wakes every call that waits for the pickup when the transaction commits, and no other", function*({ store, tenantId, transaction }) {
    yield* Effect.scoped(Effect.gen(function*() {
      const [one, another] = [yield* store.listen(tenantId, idOf(1)), yield* store.listen(tenantId, idOf(1))]
      const ofOthers = yield* Effect.forEach([[tenantId, idOf(2)], [freshTenant(), idOf(1)]] as const, ([tenant, id]) => store.listen(tenant, id))
      // all are woken once when the connection that listens is there
      yield* Effect.all([one, another, ...ofOthers].map((signal) => Effect.timeoutOption(signal, 500)), { concurrency: "unbounded" })
      const waiting = yield* Effect.forkChild(Effect.all([one, another], { concurrency: "unbounded" }))
      const unaware = yield* Effect.forkChild(Effect.raceAll(ofOthers))
      yield* transaction.run(store.decided(tenantId, idOf(1)))
      yield* Fiber.join(waiting)
      yield* Effect.sleep(50)
      assert.strictEqual(unaware.pollUnsafe(), undefined)
      yield* Fiber.interrupt(unaware)
    }))
  }, 20_000)
})

export const suite = allOf(changes, signals)
