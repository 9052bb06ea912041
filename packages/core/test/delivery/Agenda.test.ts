import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Agenda, CallList } from "../../src/delivery/Agenda.ts"

/** Whether a wait that begins at 0 has ended by then. */
const endsBy = (millis: number, wait: Effect.Effect<void>) =>
  Effect.gen(function*() {
    const waiting = yield* Effect.forkChild(wait)
    yield* TestClock.adjust(millis)
    const ended = waiting.pollUnsafe() !== undefined
    yield* Fiber.interrupt(waiting)
    return ended
  })

const resting = () => {
  const agenda = new Agenda()
  agenda.nextPoll = 1000
  return agenda
}

describe("what a worker has to look at", () => {
  it.effect("is waited for until it is time, whichever time comes first", () =>
    Effect.gen(function*() {
      assert.isFalse(yield* endsBy(999, resting().untilDue(0, Infinity)))
      assert.isTrue(yield* endsBy(1000, resting().untilDue(0, Infinity)))
      assert.isTrue(yield* endsBy(300, resting().untilDue(0, 300)))
      assert.isTrue(yield* endsBy(300, new CallList().until(0, 300)))
      assert.isFalse(yield* endsBy(1e9, new CallList().until(0, Infinity)))
    }))

  it.effect("is told to the loop whose it is, and not to the other", () =>
    Effect.gen(function*() {
      const agenda = resting()
      agenda.arrived.comeBack("a")
      assert.isTrue(yield* endsBy(0, agenda.arrived.until(0, Infinity)))
      assert.isFalse(yield* endsBy(0, agenda.untilDue(0, Infinity)))
      agenda.due.comeBack("b")
      assert.isTrue(yield* endsBy(0, agenda.untilDue(0, Infinity)))
      assert.deepStrictEqual([[...agenda.arrived.tenants], [...agenda.due.tenants]], [["a"], ["b"]])
    }))

  it.effect("that comes during a turn counts for the next one, and what came before it does not", () =>
    Effect.gen(function*() {
      const list = new CallList()
      list.comeBack("a")
      list.beginTurn(0)
      assert.isFalse(yield* endsBy(500, list.until(0, Infinity)))
      list.comeBack("b")
      assert.isTrue(yield* endsBy(0, list.until(0, Infinity)))
    }))

  it.effect("sooner than it was known is told to who waits, and later is not", () =>
    Effect.gen(function*() {
      const agenda = resting()
      agenda.lookAt(2000)
      assert.strictEqual(agenda.nextPoll, 1000)
      assert.isFalse(yield* endsBy(0, agenda.untilDue(0, Infinity)))
      agenda.lookAt(400)
      assert.strictEqual(agenda.nextPoll, 400)
      assert.isTrue(yield* endsBy(0, agenda.untilDue(0, Infinity)))
    }))

  it.effect("once more where a claim passed over a destination is looked at soon, unless somebody asks before", () =>
    Effect.gen(function*() {
      const list = new CallList()
      list.comeBackAt("a", 20)
      list.comeBackAt("b", 30)
      assert.isTrue(yield* endsBy(0, list.until(0, Infinity)))
      list.beginTurn(1)
      assert.isFalse(yield* endsBy(18, list.until(1, Infinity)))
      assert.isTrue(yield* endsBy(19, list.until(1, Infinity)))
      list.beginTurn(20)
      assert.deepStrictEqual([...list.tenants], ["a"])
      // for want of room nobody asks: it stays on the list, and is not looked at again and again
      assert.isFalse(yield* endsBy(9, list.until(20, Infinity)))
      list.ask("a")
      list.ask("b")
      assert.deepStrictEqual([...list.tenants], [])
      assert.isFalse(yield* endsBy(900, list.until(20, Infinity)))
    }))

  it.effect("for want of room is looked at when there is some, by the loops that have something", () =>
    Effect.gen(function*() {
      const agenda = resting()
      agenda.makeRoom()
      assert.isFalse(yield* endsBy(0, agenda.untilDue(0, Infinity)))
      agenda.due.add("a")
      agenda.makeRoom()
      assert.isTrue(yield* endsBy(0, agenda.untilDue(0, Infinity)))
      assert.isFalse(yield* endsBy(0, agenda.arrived.until(0, Infinity)))
      agenda.arrived.add("a")
      agenda.makeRoom()
      assert.isTrue(yield* endsBy(0, agenda.arrived.until(0, Infinity)))
    }))

  it("is looked for together where it comes due within a few milliseconds of the last look", () => {
    const agenda = new Agenda()
    agenda.beginPoll(1000, 6000)
    agenda.lookAt(1001)
    assert.strictEqual(agenda.nextPoll, 1025)
    agenda.lookAt(1010)
    assert.strictEqual(agenda.nextPoll, 1025)
    agenda.beginPoll(1025, 6000)
    agenda.lookAt(1400)
    assert.strictEqual(agenda.nextPoll, 1400)
  })
})
