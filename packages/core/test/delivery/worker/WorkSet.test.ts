import { assert, describe, it } from "@effect/vitest"
import type { AcquiredPartition } from "@waybill/core/delivery"
import { attemptsBegin, type Destination, failed, loadInto, signalled } from "../../../src/delivery/worker/Destination.ts"
import { rateWindowMillis } from "../../../src/delivery/model/RateLimit.ts"
import { ownershipOf, WorkSet } from "../../../src/delivery/worker/WorkSet.ts"
import { int, listOf } from "../../arbitraries.ts"
import { makeLoaded } from "./DestinationLife.ts"

const now = 1_763_600_000_000

/** How long idle destinations are remembered while they are few. */
const rememberedMillis = 15 * 60_000

/** A destination in partition 0. */
const idOf = (n: number): string => `0199c5a1-0000-7000-8000-${(n * 8).toString(16).padStart(12, "0")}`

const acquired = (parts: Partial<AcquiredPartition> = {}): AcquiredPartition => ({
  tenantId: "acme",
  partition: 0,
  epoch: 1,
  othersUntil: undefined,
  destinations: [],
  ...parts
})

const holding = (parts: Partial<AcquiredPartition> = {}): WorkSet => {
  const work = new WorkSet()
  work.hold(acquired(parts), now, 0)
  return work
}

const tenantOf = (work: WorkSet) => work.tenants.get("acme")!

const loaded = (work: WorkSet, n: number): Destination => {
  const destination = work.destination("acme", idOf(n))!
  loadInto(destination, makeLoaded({}, { destinationId: idOf(n) }), { since: 1, now, storeAhead: 0 })
  return destination
}

const isReady = ({ owned: { tenant }, readyIn }: Destination): boolean =>
  readyIn !== undefined && tenant.ready.get(readyIn.name) === readyIn

describe("a partition that is acquired", () => {
  it("loads its destinations with work", () => {
    const work = holding({ destinations: [idOf(1), idOf(2)] })
    assert.deepStrictEqual(Array.from(tenantOf(work).unloaded, ({ destinationId }) => destinationId), [idOf(1), idOf(2)])
    assert.isTrue(work.demand.has(tenantOf(work)))
    assert.isTrue(tenantOf(work).signalled)
  })

  it("knows until when the previous owner may have sent if it was taken over, and nothing if it was released", () => {
    assert.strictEqual(holding({ othersUntil: now }).partition("acme", 0)!.othersUntil, now)
    assert.strictEqual(holding().partition("acme", 0)!.othersUntil, -Infinity)
  })

  it("counts no time as sent by others that is yet to come", () => {
    const work = holding({ othersUntil: now + 3_600_000 })
    assert.strictEqual(work.partition("acme", 0)!.othersUntil, now)
  })

  it("knows in its own time until when others may have sent", () => {
    const work = new WorkSet()
    work.hold(acquired({ othersUntil: 5_000 }), 1_000, 4_200)
    assert.strictEqual(work.partition("acme", 0)!.othersUntil, 800)
  })

  it("discards its old state when it is acquired again", () => {
    const work = holding()
    const before = loaded(work, 1)
    work.hold(acquired({ epoch: 2 }), now, 0)
    assert.isTrue(before.owned.lost)
    assert.isUndefined(work.find("acme", idOf(1)))
    assert.deepStrictEqual(ownershipOf(tenantOf(work).partitions.values()), [{ tenantId: "acme", partition: 0, epoch: 2, lastOutcome: undefined }])
  })
})

describe("a partition that is lost", () => {
  it("leaves nothing behind", () => {
    const work = holding()
    const destination = loaded(work, 1)
    work.touch(destination)
    work.lose(destination.owned)
    assert.deepStrictEqual([destination.owned.lost, work.tenants.size, work.demand.size], [true, 0, 0])
    work.touch(destination)
    assert.strictEqual(work.demand.size, 0)
  })

  it("does not lose the ownership that follows", () => {
    const work = holding()
    const before = work.partition("acme", 0)!
    work.lose(before)
    work.hold(acquired({ epoch: 2 }), now, 0)
    work.lose(before)
    assert.strictEqual(work.partition("acme", 0)!.epoch, 2)
  })

  it("does not change the tenant's other partitions", () => {
    const work = holding()
    work.hold(acquired({ partition: 1 }), now, 0)
    work.lose(work.partition("acme", 0)!)
    assert.deepStrictEqual(ownershipOf(tenantOf(work).partitions.values()).map(({ partition }) => partition), [1])
    assert.isUndefined(work.destination("acme", idOf(1)))
  })
})

describe("a destination that may have something to send", () => {
  it("waits for its load while it is unknown or changed, otherwise for its client's turn", () => {
    const work = holding()
    const destination = work.destination("acme", idOf(1))!
    work.touch(destination)
    assert.isTrue(tenantOf(work).unloaded.has(destination))
    work.unready(destination)
    loadInto(destination, makeLoaded(), { since: 1, now, storeAhead: 0 })
    work.touch(destination)
    assert.isFalse(tenantOf(work).unloaded.has(destination))
    assert.isTrue(isReady(destination))
    work.unready(destination)
    assert.strictEqual(tenantOf(work).ready.size, 0)
  })
})

describe("groups of destinations that may send", () => {
  it("are one for each client, and one more for those whose last attempt failed", () => {
    const work = holding()
    const [healthy, failing] = [loaded(work, 1), loaded(work, 2)]
    failed(failing, now, 1000)
    for (const each of [healthy, failing]) work.touch(each)
    assert.deepStrictEqual(Array.from(tenantOf(work).ready.values(), ({ destinations, isFailing }) => [isFailing, [...destinations]]), [[false, [healthy]], [true, [failing]]])
    failed(healthy, now, 1000)
    work.touch(healthy)
    assert.deepStrictEqual(Array.from(tenantOf(work).ready.values(), ({ destinations }) => [...destinations]), [[failing, healthy]])
  })

  it("wait behind the others after their turn", () => {
    const work = holding()
    const [first, second, other] = [1, 2, 3].map((n) => loaded(work, n)) as [Destination, Destination, Destination]
    failed(other, now, 1000)
    for (const each of [first, second, other]) work.touch(each)
    work.unready(first)
    assert.deepStrictEqual(Array.from(tenantOf(work).ready.values(), ({ destinations }) => [...destinations]), [[other], [second]])
  })
})

describe("tenants without free slots", () => {
  it("are scheduled again when an attempt ends, unless no partition of them is owned", () => {
    const work = holding()
    work.hold(acquired({ tenantId: "other" }), now, 0)
    const [acme, other] = [tenantOf(work), work.tenants.get("other")!]
    work.waitingForSlots.add(acme).add(other)
    work.lose(work.partition("other", 0)!)
    work.demand.clear()
    work.makeRoom()
    assert.deepStrictEqual([...work.demand], [acme])
    assert.strictEqual(work.waitingForSlots.size, 0)
  })
})

describe("scheduledChecks", () => {
  it.prop("are returned in rounds, a tenth of a second apart, with all that are due and no others", [listOf(int(1, 500), 1, 40)], ([times]) => {
    const work = holding()
    const destinations = times.map((_, n) => loaded(work, n))
    for (const [n, destination] of destinations.entries()) work.lookAt(destination, now + times[n]!)
    let round = -Infinity
    let mayBegin = 0
    for (let millis = 0; millis <= 600; millis++) {
      if (millis >= mayBegin && times.some((time) => time > round && time <= millis)) [round, mayBegin] = [millis, millis + 100]
      work.runDueChecks(now + millis)
      assert.deepStrictEqual(destinations.map(isReady), times.map((time) => time <= round))
      const left = times.filter((time) => time > round)
      assert.strictEqual(work.nextCheckAt, left.length === 0 ? undefined : now + Math.max(mayBegin, Math.min(...left)))
    }
  }, { arbitrary: { runs: 100, size: 40 } })

  it("are moved to an earlier time, and not to a later one", () => {
    const work = holding()
    const destination = loaded(work, 1)
    work.lookAt(destination, now + 50)
    work.lookAt(destination, now + 20)
    work.lookAt(destination, now + 70)
    work.runDueChecks(now + 20)
    assert.isTrue(isReady(destination))
    work.unready(destination)
    work.runDueChecks(now + 120)
    assert.strictEqual(work.nextCheckAt, undefined)
  })

  it("are few of a destination that is looked at again and again before its retry is due", () => {
    const work = holding()
    const destination = loaded(work, 1)
    for (let second = 0; second < 1000; second++) {
      work.lookAt(destination, now + 3_600_000)
      work.lookAt(destination, now + second * 1000 + 500)
      work.runDueChecks(now + second * 1000 + 500)
    }
    assert.strictEqual(destination.checksAt.length, 1)
  })

  it("are ignored for a destination that another worker owns", () => {
    const work = holding()
    work.lookAt(loaded(work, 1), now + 20)
    work.hold(acquired({ epoch: 2 }), now, 0)
    work.runDueChecks(now + 20)
    assert.strictEqual(tenantOf(work).ready.size, 0)
  })
})

describe("a partition that is cleaned up", () => {
  const tidied = (change: (destination: Destination) => void, { at = now + rememberedMillis, others = 0 } = {}) => {
    const work = holding()
    const destination = loaded(work, 1)
    attemptsBegin(destination, now, 1)
    change(destination)
    for (let n = 0; n < others; n++) work.destination("acme", idOf(n + 2))
    const isQuiet = work.tidy(work.partition("acme", 0)!, at, at)
    return { isQuiet, isKept: work.find("acme", idOf(1)) !== undefined }
  }

  it("removes a destination that has been idle for a quarter of an hour", () => {
    assert.deepStrictEqual(tidied(() => {}), { isQuiet: true, isKept: false })
    assert.deepStrictEqual(tidied(() => {}, { at: now + rememberedMillis - 1 }), { isQuiet: true, isKept: true })
  })

  it("removes an idle destination at the end of its rate window while more than ten thousand are known", () => {
    const at = now + rateWindowMillis
    assert.isTrue(tidied(() => {}, { at, others: 9_999 }).isKept)
    assert.isFalse(tidied(() => {}, { at, others: 10_000 }).isKept)
    assert.isTrue(tidied(() => {}, { at: at - 1, others: 10_000 }).isKept)
  })

  it("counts no destination that is gone", () => {
    const work = holding()
    for (let n = 0; n < 20_000; n++) work.destination("acme", idOf(n))
    work.tidy(work.partition("acme", 0)!, now, now)
    for (let n = 0; n < 20_000; n++) work.destination("acme", idOf(n))
    work.hold(acquired({ epoch: 2 }), now, 0)
    attemptsBegin(loaded(work, 1), now, 1)
    work.tidy(work.partition("acme", 0)!, now + rateWindowMillis, now + rateWindowMillis)
    assert.isDefined(work.find("acme", idOf(1)))
  })

  it("keeps a destination with failures", () => {
    assert.deepStrictEqual(tidied((destination) => failed(destination, now, 1000)), { isQuiet: true, isKept: true })
  })

  it("is not idle while there is work", () => {
    const busy: ReadonlyArray<(destination: Destination) => void> = [
      (destination) => signalled(destination, "A", 1),
      (destination) => signalled(destination, undefined, 1),
      (destination) => destination.inFlight.set("one", { lastKey: "A", first: true }),
      (destination) => destination.waiting.push({ deliveryId: "one", dueAt: now, since: 0, leftOut: false }),
      (destination) => void (destination.taking = true),
      (destination) => void (destination.loads = 1),
      (destination) => void (destination.signalScheduled = true),
      (destination) => void (destination.pause = { reason: "The receiver answered 410 Gone.", always: false })
    ]
    for (const change of busy) assert.deepStrictEqual(tidied(change), { isQuiet: false, isKept: true })
  })

  it("is idle if its waiting entries may not be sent", () => {
    assert.isTrue(tidied((destination) => {
      signalled(destination, "A", 1)
      destination.sends = false
    }).isQuiet)
  })

  it("is not idle while the store keeps entries that the client may not receive", () => {
    const drops: ReadonlyArray<(tenant: ReturnType<typeof tenantOf>) => void> = [
      ({ drops }) => void drops.closed.add(idOf(1)),
      ({ drops }) => void drops.keys.push({ destinationId: idOf(1), key: "A" }),
      ({ drops }) => void drops.deliveries.push({ destinationId: idOf(1), deliveryId: "one" })
    ]
    for (const drop of drops) {
      const work = holding()
      drop(tenantOf(work))
      assert.isFalse(work.tidy(work.partition("acme", 0)!, now, now))
    }
  })

  it("never schedules a destination that it removed", () => {
    const work = holding()
    const forgotten = loaded(work, 1)
    work.touch(forgotten)
    assert.isTrue(work.tidy(work.partition("acme", 0)!, now + rememberedMillis, now + rememberedMillis))
    assert.strictEqual(tenantOf(work).ready.size, 0)
    const known = loaded(work, 1)
    work.touch(forgotten)
    assert.strictEqual(tenantOf(work).ready.size, 0)
    work.touch(known)
    assert.deepStrictEqual(Array.from(tenantOf(work).ready.values(), ({ destinations }) => destinations), [new Set([known])])
  })
})
