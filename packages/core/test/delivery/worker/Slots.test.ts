import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import type { SlotOwner } from "../../../src/delivery/worker/Destination.ts"
import { Slots } from "../../../src/delivery/worker/Slots.ts"
import { int, listOf } from "../../arbitraries.ts"

const concurrency = 1000

const makeSlots = () => new Slots({ concurrency, maxBytesInFlight: 1_000_000 })

const owner = (tenant: number, client: number): SlotOwner => ({ tenantId: `tenant ${tenant}`, client: `client ${client}` })

/** The owners take one slot each in turn, until none is admitted. */
const fill = (slots: Slots, owners: ReadonlyArray<SlotOwner>): ReadonlyArray<number> => {
  const had = owners.map(() => 0)
  for (let more = true; more;) {
    more = false
    for (const [n, each] of owners.entries()) {
      if (slots.ofClient(each, false) === 0) continue
      slots.use(each, 1, false)
      had[n]! += 1
      more = true
    }
  }
  return had
}

const wish = Arbitrary.all({ tenant: int(1, 3), client: int(1, 4), wanted: int(1, 600) })

/** Slots of which each owner took what it wished, as far as it may. */
const takenBy = (wishes: ReadonlyArray<{ readonly tenant: number; readonly client: number; readonly wanted: number }>): Slots => {
  const slots = makeSlots()
  for (const { client, tenant, wanted } of wishes) {
    const each = owner(tenant, client)
    slots.use(each, Math.min(wanted, slots.ofClient(each, false)), false)
  }
  return slots
}

describe("slots", () => {
  it("give a client alone half", () => assert.deepStrictEqual(fill(makeSlots(), [owner(1, 1)]), [500]))

  it("give clients with equal demand equal slots, and leave as many for the next client", () => {
    const slots = makeSlots()
    for (const each of fill(slots, [owner(1, 1), owner(2, 2)])) assert.approximately(each, concurrency / 3, 1)
    assert.approximately(slots.free, concurrency / 3, 2)
  })

  it("give a tenant alone three quarters, however many clients it has", () => {
    const slots = makeSlots()
    fill(slots, Array.from({ length: 50 }, (_, client) => owner(1, client)))
    assert.strictEqual(slots.used, 750)
  })

  it("give a client its request at once within its share", () => {
    const slots = makeSlots()
    assert.strictEqual(slots.ofClient(owner(1, 1), false), 500)
    slots.use(owner(1, 1), 500, false)
    assert.strictEqual(slots.ofClient(owner(1, 1), false), 0)
    assert.strictEqual(slots.ofClient(owner(1, 2), false), 250)
    assert.strictEqual(slots.ofClient(owner(2, 1), false), 250)
  })

  it("are given back", () => {
    const slots = makeSlots()
    fill(slots, [owner(1, 1)])
    slots.use(owner(1, 1), -500, false)
    assert.deepStrictEqual([slots.used, slots.ofClient(owner(1, 1), false), slots.ofAnyClient("tenant 1")], [0, 500, 500])
  })

  it.prop(
    "always have room for a client of another tenant, as long as few tenants take all they may",
    [listOf(wish, 1, 60)],
    ([wishes]) => {
      const slots = takenBy(wishes)
      assert.isAtMost(slots.used, concurrency)
      assert.isAtLeast(slots.ofClient(owner(9, 9), false), 1)
    },
    { arbitrary: { runs: 300, size: 60 } }
  )

  it.prop(
    "that a tenant may take before its clients are known are within the share of each of them",
    [listOf(wish, 0, 20)],
    ([wishes]) => {
      const slots = takenBy(wishes)
      for (const tenant of [1, 2, 3, 4]) {
        for (const client of [1, 2, 3, 4, 5]) assert.isAtMost(slots.ofAnyClient(`tenant ${tenant}`), slots.ofClient(owner(tenant, client), false))
      }
      assert.isAtLeast(slots.ofAnyClient("tenant 4"), 1)
    },
    { arbitrary: { runs: 300, size: 20 } }
  )

  it("are withheld while too many outcomes are not written", () => {
    const slots = makeSlots()
    slots.unwritten = concurrency
    assert.strictEqual(slots.ofClient(owner(1, 1), false), 0)
    slots.unwritten = 0
    assert.strictEqual(slots.ofClient(owner(1, 1), false), 500)
  })
})

describe("bytes in flight", () => {
  it("give a client alone half, and others a part of the rest", () => {
    const slots = makeSlots()
    slots.useBytes(owner(1, 1), 499_000, false)
    assert.strictEqual(slots.ofClient(owner(1, 1), false), 500)
    const used = slots.useBytes(owner(1, 1), 100_000, false)
    assert.deepStrictEqual([used, slots.ofClient(owner(1, 1), false)], [1_000, 0])
    assert.strictEqual(slots.useBytes(owner(1, 2), 1_000_000, false), 250_000)
    assert.strictEqual(slots.useBytes(owner(2, 1), 1_000_000, false), 125_000)
    slots.returnBytes(owner(1, 1), used, false)
    assert.strictEqual(slots.ofClient(owner(1, 1), false), 0, "less is free than it holds")
  })

  it("that are more than the share of their owner take nothing from others", () => {
    const slots = makeSlots()
    const end = slots.begin(owner(1, 1), 5_000_000, false)
    slots.use(owner(1, 1), 1, false)
    assert.strictEqual(slots.ofClient(owner(1, 1), false), 0)
    assert.strictEqual(slots.useBytes(owner(1, 2), 1_000_000, false), 250_000)
    end()
    assert.deepStrictEqual([slots.used, slots.ofClient(owner(1, 1), false)], [0, 500])
  })

  it("are withheld from all when memory has four times the limit", () => {
    const slots = makeSlots()
    slots.use(owner(1, 1), 1, false)
    const end = slots.begin(owner(1, 1), 4_000_000, false)
    assert.deepStrictEqual([slots.free, slots.ofAnyClient("tenant 2"), slots.ofClient(owner(2, 2), false)], [0, 0, 0])
    end()
    assert.strictEqual(slots.free, concurrency)
  })

  it("of destinations whose last attempt failed are at most a tenth, of which a client has half", () => {
    const slots = makeSlots()
    assert.deepStrictEqual([1, 1, 2].map((client) => slots.useBytes(owner(client, client), 60_000, true)), [50_000, 0, 25_000])
    assert.deepStrictEqual([1, 2, 3].map((client) => slots.ofClient(owner(client, client), true) > 0), [false, false, true])
    assert.isAbove(slots.ofClient(owner(1, 1), false), 0)
  })

  it.prop(
    "are always left for another client, whatever others hold",
    [listOf(Arbitrary.all({ tenant: int(1, 3), client: int(1, 4), bytes: int(1, 3_000_000) }), 1, 30)],
    ([wishes]) => {
      const slots = new Slots({ concurrency, maxBytesInFlight: 100_000_000 })
      for (const { bytes, client, tenant } of wishes) slots.useBytes(owner(tenant, client), bytes * 30, false)
      assert.isAtLeast(slots.ofClient(owner(9, 9), false), 1)
    },
    { arbitrary: { runs: 300, size: 30 } }
  )
})

describe("destinations whose last attempt failed", () => {
  it("share a tenth of all slots, so that those of another client always find one", () => {
    const slots = makeSlots()
    for (const [each, expected] of [[owner(1, 1), 50], [owner(1, 2), 25], [owner(2, 3), 13]] as const) {
      assert.strictEqual(slots.ofClient(each, true), expected)
      slots.use(each, expected, true)
    }
    assert.isAbove(slots.ofClient(owner(3, 4), true), 0)
  })

  it("take nothing from those whose last attempt was accepted", () => {
    const slots = makeSlots()
    slots.use(owner(2, 2), concurrency / 10, true)
    assert.strictEqual(slots.ofClient(owner(1, 1), true), 0)
    assert.strictEqual(slots.ofClient(owner(1, 1), false), 450)
  })

  it("have at least one slot", () => {
    const slots = new Slots({ concurrency: 2, maxBytesInFlight: 1000 })
    assert.strictEqual(slots.ofClient(owner(1, 1), true), 1)
  })
})
