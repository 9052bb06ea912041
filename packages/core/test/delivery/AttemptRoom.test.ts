import { assert, describe, it } from "@effect/vitest"
import { DeliveryOptions } from "@waybill/core"
import * as Arbitrary from "effect/Arbitrary"
import { AttemptRoom } from "../../src/delivery/AttemptRoom.ts"
import type { DestinationOwner } from "../../src/delivery/AttemptShares.ts"
import { int, listOf, oneOf } from "../arbitraries.ts"

const defaults = DeliveryOptions.defaults

/** Destination `n` of a tenant and a client of its own. */
const destinationOf = (n: number, underWay = 0) => ({ tenantId: `tenant-${n}`, client: "client", underWay })

const start = (room: AttemptRoom, destination: DestinationOwner, attempts: number) => {
  room.promise(destination, attempts)
  for (let n = 0; n < attempts; n++) room.begin(destination, 0)
}

/** Attempts of a hundred tenants, so that no part of one is used up. */
const startAmongMany = (room: AttemptRoom, attempts: number) => {
  for (let n = 0; n < attempts; n++) start(room, destinationOf(n % 100), 1)
}

/** How many attempts destinations take, one destination after the other, until nothing is left for the next one. */
const destinationsThatFill = (room: AttemptRoom, destinationOf: (n: number) => DestinationOwner & { readonly underWay: number }): ReadonlyArray<number> => {
  const taken: Array<number> = []
  for (;;) {
    const destination = destinationOf(taken.length)
    const attempts = room.of(destination)
    if (attempts === 0) return taken
    start(room, destination, attempts)
    taken.push(attempts)
  }
}

const parts = [
  [1 / 2, (destination: DestinationOwner) => `${destination.tenantId} ${destination.client}`],
  [3 / 4, (destination: DestinationOwner) => destination.tenantId]
] as const

const limits = Arbitrary.all({ concurrency: int(1, 300), destinationConcurrency: int(1, 40), maxBytesInFlight: oneOf([1000]), maxDestinations: int(1, 20) })

describe("the room for attempts", () => {
  it("gives a destination all it may have until half is taken, and less the less is left", () => {
    const taken = destinationsThatFill(new AttemptRoom(defaults), destinationOf)
    assert.deepStrictEqual(taken.slice(0, 64), Array.from({ length: 64 }, () => defaults.destinationConcurrency))
    assert.deepStrictEqual(taken, [...taken].sort((a, b) => b - a))
    assert.strictEqual(taken.length, 476)
    assert.strictEqual(taken.reduce((sum, each) => sum + each, 0), defaults.concurrency)
  })

  it.prop("is never overdrawn, whatever is promised, begun, ended and taken back", [limits, listOf(int(0, 5), 1, 200)], ([limits, steps]) => {
    const room = new AttemptRoom(limits)
    const destinations = Array.from({ length: 5 }, (_, n) => ({ tenantId: `tenant-${n % 2}`, client: `client-${n % 3}`, underWay: 0, promised: 0 }))
    for (const [n, step] of steps.entries()) {
      const destination = destinations[n % destinations.length]!
      const held = { ...destination, underWay: destination.underWay + destination.promised }
      if (step === 0 && destination.promised > 0) {
        room.promise(destination, -destination.promised)
        destination.promised = 0
      } else if (step === 1 && destination.promised > 0) {
        room.begin(destination, 1)
        destination.promised -= 1
        destination.underWay += 1
      } else if (step === 2 && destination.underWay > 0) {
        room.end(destination, 1)
        room.written(1)
        destination.underWay -= 1
      } else {
        const attempts = room.of(held)
        room.promise(destination, attempts)
        destination.promised += attempts
      }
      const all = destinations.reduce((sum, each) => sum + each.underWay + each.promised, 0)
      assert.strictEqual(room.free, limits.concurrency - all)
      assert.isAtMost(all, limits.concurrency)
      assert.isTrue(destinations.every((each) => each.underWay + each.promised <= limits.destinationConcurrency))
      for (const [part, ownerOf] of parts) {
        for (const owner of new Set(destinations.map(ownerOf))) {
          const own = destinations.filter((each) => ownerOf(each) === owner)
          assert.isAtMost(own.reduce((sum, each) => sum + each.underWay + each.promised, 0), Math.ceil(limits.concurrency * part))
        }
      }
    }
  })

  it("gives one client half of it, and all clients of one tenant three quarters, however many destinations they have", () => {
    const room = new AttemptRoom(defaults)
    const of = (taken: ReadonlyArray<number>) => taken.reduce((sum, each) => sum + each, 0)
    assert.strictEqual(of(destinationsThatFill(room, () => ({ tenantId: "a", client: "one", underWay: 0 }))), 1024)
    assert.strictEqual(of(destinationsThatFill(room, (n) => ({ tenantId: "a", client: `other-${n % 50}`, underWay: 0 }))), 512)
    assert.isTrue(room.isFullFor({ tenantId: "a", client: "newcomer" }))
    assert.isFalse(room.isFullFor({ tenantId: "b", client: "one" }))
    assert.strictEqual(of(destinationsThatFill(room, destinationOf)), 512)
  })

  it("gives one client half of the bytes", () => {
    const room = new AttemptRoom({ ...defaults, maxBytesInFlight: 100 })
    const destination = destinationOf(1)
    room.promise(destination, 1)
    room.begin(destination, 50)
    assert.strictEqual(room.of(destination), 0)
    assert.isAbove(room.of({ ...destination, client: "other" }), 0)
    room.end(destination, 50)
    assert.isAbove(room.of(destination), 0)
  })

  it("is full as long as as many outcomes wait to be written as attempts may be under way", () => {
    const room = new AttemptRoom({ ...defaults, concurrency: 2 })
    startAmongMany(room, 2)
    assert.isTrue(room.isFull)
    room.end(destinationOf(0), 0)
    assert.isFalse(room.isFull)
    room.end(destinationOf(1), 0)
    assert.isTrue(room.isFull, "two wait to be written")
    room.written(1)
    assert.isFalse(room.isFull)
  })

  it("is full when the bytes are, and not before", () => {
    const room = new AttemptRoom({ ...defaults, maxBytesInFlight: 100 })
    room.promise(destinationOf(1), 2)
    room.begin(destinationOf(1), 99)
    assert.isFalse(room.isFull)
    room.begin(destinationOf(1), 500)
    assert.isTrue(room.isFull)
    assert.strictEqual(room.freeBytes, 0)
    room.end(destinationOf(1), 500)
    assert.strictEqual(room.freeBytes, 1)
  })

  it("asks for no more destinations than may be held, together with those that another claim asks for", () => {
    const room = new AttemptRoom({ ...defaults, maxDestinations: 20 })
    assert.strictEqual(room.newDestinations(0, 5, "due"), 15)
    room.ask(15)
    assert.strictEqual(room.newDestinations(0, 5, "due"), 0)
    room.ask(-15)
    assert.strictEqual(room.newDestinations(0, 25, "due"), 0)
    assert.strictEqual(room.newDestinations(0, 19, "due"), 1)
  })

  it("asks for fewer destinations where they hold much, and for more where they hold little", () => {
    const room = new AttemptRoom(defaults)
    const usual = room.newDestinations(0, 0, "due")
    room.adapt(1000, true)
    assert.isBelow(room.newDestinations(0, 0, "due"), usual)
    for (let n = 0; n < 5; n++) room.adapt(3, true)
    assert.isAbove(room.newDestinations(0, 0, "due"), usual)
    for (let n = 0; n < 20; n++) room.adapt(1000, true)
    assert.isAbove(room.newDestinations(0, 0, "due"), 0)
  })

  it("asks for none while it is nearly full, but not for ever: what is under way may hang", () => {
    const room = new AttemptRoom(defaults)
    startAmongMany(room, defaults.concurrency - 10)
    assert.strictEqual(room.newDestinations(1000, 0, "due"), 0)
    assert.strictEqual(room.newDestinations(1019, 0, "due"), 0)
    assert.deepStrictEqual(room.patientUntil, { arrived: Infinity, due: 1020 })
    // each of them can start something
    assert.strictEqual(room.newDestinations(1020, 0, "due"), 5)
    assert.strictEqual(room.newDestinations(1021, 0, "due"), 0)
    for (let n = 0; n < 300; n++) room.end(destinationOf(n % 100), 0)
    room.written(300)
    assert.isAbove(room.newDestinations(1022, 0, "due"), 0)
    assert.deepStrictEqual(room.patientUntil, { arrived: Infinity, due: Infinity })
  })

  it("lets each loop wait for itself while it is nearly full, or one would take the other's turns", () => {
    const room = new AttemptRoom(defaults)
    startAmongMany(room, defaults.concurrency - 10)
    for (const loop of ["due", "arrived"] as const) assert.strictEqual(room.newDestinations(1000, 0, loop), 0)
    for (const loop of ["due", "arrived"] as const) assert.strictEqual(room.newDestinations(1020, 0, loop), 5)
  })
})
