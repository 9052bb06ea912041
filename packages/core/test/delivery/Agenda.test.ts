import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Agenda } from "../../src/delivery/Agenda.ts"

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
      assert.isFalse(yield* endsBy(999, resting().untilWork(0, Infinity)))
      assert.isTrue(yield* endsBy(1000, resting().untilWork(0, Infinity)))
      assert.isTrue(yield* endsBy(300, resting().untilWork(0, 300)))
    }))

  it.effect("is there at once for both loops where somebody published, and for one where there is more", () =>
    Effect.gen(function*() {
      const heard = resting()
      heard.hear(["a", "b"])
      assert.deepStrictEqual([[...heard.hot], [...heard.fresh]], [["a", "b"], ["a", "b"]])
      assert.isTrue(yield* endsBy(0, heard.untilWork(0, Infinity)))
      assert.isTrue(yield* endsBy(0, heard.untilNews))
      const more = resting()
      more.comeBack("a")
      assert.deepStrictEqual([[...more.hot], [...more.fresh]], [["a"], []])
      assert.isTrue(yield* endsBy(0, more.untilWork(0, Infinity)))
      assert.isFalse(yield* endsBy(0, more.untilNews))
    }))

  it.effect("that comes during a turn counts for the next one, and what came before it does not", () =>
    Effect.gen(function*() {
      const agenda = resting()
      agenda.hear(["a"])
      agenda.beginTurn(0)
      agenda.beginFreshTurn()
      assert.isFalse(yield* endsBy(500, agenda.untilWork(0, Infinity)))
      assert.isFalse(yield* endsBy(500, agenda.untilNews))
      agenda.hear(["b"])
      assert.isTrue(yield* endsBy(0, agenda.untilWork(0, Infinity)))
      assert.isTrue(yield* endsBy(0, agenda.untilNews))
    }))

  it.effect("sooner than it was known is told to who waits, and later is not", () =>
    Effect.gen(function*() {
      const agenda = resting()
      agenda.lookAt(2000)
      assert.strictEqual(agenda.nextPoll, 1000)
      assert.isFalse(yield* endsBy(0, agenda.untilWork(0, Infinity)))
      agenda.lookAt(400)
      assert.strictEqual(agenda.nextPoll, 400)
      assert.isTrue(yield* endsBy(0, agenda.untilWork(0, Infinity)))
    }))

  it.effect("once more where a claim passed over a lane is looked at soon, unless somebody asks before", () =>
    Effect.gen(function*() {
      const agenda = resting()
      agenda.comeBackAt("a", 20)
      agenda.comeBackAt("b", 30)
      assert.isTrue(yield* endsBy(0, agenda.untilWork(0, Infinity)))
      agenda.beginTurn(1)
      assert.isFalse(yield* endsBy(18, agenda.untilWork(1, Infinity)))
      assert.isTrue(yield* endsBy(19, agenda.untilWork(1, Infinity)))
      agenda.beginTurn(20)
      assert.deepStrictEqual([...agenda.hot], ["a"])
      agenda.ask("a")
      agenda.ask("b")
      assert.isFalse(yield* endsBy(900, agenda.untilWork(20, Infinity)))
    }))

  it.effect("for want of room is looked at when there is some, if there is anything", () =>
    Effect.gen(function*() {
      const agenda = resting()
      agenda.makeRoom()
      assert.isFalse(yield* endsBy(0, agenda.untilWork(0, Infinity)))
      agenda.hot.add("a")
      agenda.makeRoom()
      assert.isTrue(yield* endsBy(0, agenda.untilWork(0, Infinity)))
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
