import { assert, describe, it } from "@effect/vitest"
import { DeliveryOptions } from "@waybill/core"
import * as Arbitrary from "effect/Arbitrary"
import { AttemptRoom } from "../../src/delivery/AttemptRoom.ts"
import { int, listOf, oneOf } from "../arbitraries.ts"

const defaults = DeliveryOptions.defaults

const start = (room: AttemptRoom, attempts: number) => {
  room.promise(attempts)
  for (let n = 0; n < attempts; n++) room.begin(0)
}

/** How many lanes take what they may, one after the other, until nothing is left. */
const lanesThatFill = (room: AttemptRoom): ReadonlyArray<number> => {
  const taken: Array<number> = []
  while (!room.isFull) {
    const attempts = room.of({ underWay: 0 })
    assert.isAbove(attempts, 0, "whoever comes while there is room gets some")
    start(room, attempts)
    taken.push(attempts)
  }
  return taken
}

const limits = Arbitrary.all({ concurrency: int(1, 300), laneConcurrency: int(1, 40), maxBytesInFlight: oneOf([1000]), maxLanes: int(1, 20) })

describe("the room for attempts", () => {
  it("gives a lane all it may have until half is taken, and less the less is left", () => {
    const taken = lanesThatFill(new AttemptRoom(defaults))
    assert.deepStrictEqual(taken.slice(0, 64), Array.from({ length: 64 }, () => defaults.laneConcurrency))
    assert.deepStrictEqual(taken, [...taken].sort((a, b) => b - a))
    assert.strictEqual(taken.length, 476)
    assert.strictEqual(taken.reduce((sum, each) => sum + each, 0), defaults.concurrency)
  })

  it.prop("is never overdrawn, whatever is promised, begun, ended and taken back", [limits, listOf(int(0, 5), 1, 200)], ([limits, steps]) => {
    const room = new AttemptRoom(limits)
    const lanes = Array.from({ length: 5 }, () => ({ underWay: 0, promised: 0 }))
    for (const [n, step] of steps.entries()) {
      const lane = lanes[n % lanes.length]!
      const held = { underWay: lane.underWay + lane.promised }
      if (step === 0 && lane.promised > 0) {
        room.promise(-lane.promised)
        lane.promised = 0
      } else if (step === 1 && lane.promised > 0) {
        room.begin(1)
        lane.promised -= 1
        lane.underWay += 1
      } else if (step === 2 && lane.underWay > 0) {
        room.end(1)
        room.written(1)
        lane.underWay -= 1
      } else {
        const attempts = room.of(held)
        room.promise(attempts)
        lane.promised += attempts
      }
      const all = lanes.reduce((sum, each) => sum + each.underWay + each.promised, 0)
      assert.strictEqual(room.free, limits.concurrency - all)
      assert.isAtMost(all, limits.concurrency)
      assert.isTrue(lanes.every((each) => each.underWay + each.promised <= limits.laneConcurrency))
    }
  })

  it("is full as long as as many outcomes wait to be written as attempts may be under way", () => {
    const room = new AttemptRoom({ ...defaults, concurrency: 2 })
    start(room, 2)
    assert.isTrue(room.isFull)
    room.end(0)
    assert.isFalse(room.isFull)
    room.end(0)
    assert.isTrue(room.isFull, "two wait to be written")
    room.written(1)
    assert.isFalse(room.isFull)
  })

  it("is full when the bytes are, and not before", () => {
    const room = new AttemptRoom({ ...defaults, maxBytesInFlight: 100 })
    room.promise(2)
    room.begin(99)
    assert.isFalse(room.isFull)
    room.begin(500)
    assert.isTrue(room.isFull)
    assert.strictEqual(room.freeBytes, 0)
    room.end(500)
    assert.strictEqual(room.freeBytes, 1)
  })

  it("asks for no more lanes than may be held, together with those that another claim asks for", () => {
    const room = new AttemptRoom({ ...defaults, maxLanes: 20 })
    assert.strictEqual(room.newLanes(0, 5, "due"), 15)
    room.ask(15)
    assert.strictEqual(room.newLanes(0, 5, "due"), 0)
    room.ask(-15)
    assert.strictEqual(room.newLanes(0, 25, "due"), 0)
    assert.strictEqual(room.newLanes(0, 19, "due"), 1)
  })

  it("asks for fewer lanes where they hold much, and for more where they hold little", () => {
    const room = new AttemptRoom(defaults)
    const usual = room.newLanes(0, 0, "due")
    room.adapt(1000, true)
    assert.isBelow(room.newLanes(0, 0, "due"), usual)
    for (let n = 0; n < 5; n++) room.adapt(3, true)
    assert.isAbove(room.newLanes(0, 0, "due"), usual)
    for (let n = 0; n < 20; n++) room.adapt(1000, true)
    assert.isAbove(room.newLanes(0, 0, "due"), 0)
  })

  it("asks for none while it is nearly full, but not for ever: what is under way may hang", () => {
    const room = new AttemptRoom(defaults)
    start(room, defaults.concurrency - 10)
    assert.strictEqual(room.newLanes(1000, 0, "due"), 0)
    assert.strictEqual(room.newLanes(1019, 0, "due"), 0)
    assert.deepStrictEqual(room.patientUntil, { arrived: Infinity, due: 1020 })
    // each of them can start something
    assert.strictEqual(room.newLanes(1020, 0, "due"), 5)
    assert.strictEqual(room.newLanes(1021, 0, "due"), 0)
    for (let n = 0; n < 300; n++) room.end(0)
    room.written(300)
    assert.isAbove(room.newLanes(1022, 0, "due"), 0)
    assert.deepStrictEqual(room.patientUntil, { arrived: Infinity, due: Infinity })
  })

  it("lets each loop wait for itself while it is nearly full, or one would take the other's turns", () => {
    const room = new AttemptRoom(defaults)
    start(room, defaults.concurrency - 10)
    for (const loop of ["due", "arrived"] as const) assert.strictEqual(room.newLanes(1000, 0, loop), 0)
    for (const loop of ["due", "arrived"] as const) assert.strictEqual(room.newLanes(1020, 0, loop), 5)
  })
})
