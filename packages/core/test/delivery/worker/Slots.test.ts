import { assert, describe, it } from "@effect/vitest"
import type { LoadedDestination } from "@waybill/core/delivery"
import * as Arbitrary from "effect/Arbitrary"
import { attemptsBegin, type Destination, makeDestination, type SlotOwner } from "../../../src/delivery/worker/Destination.ts"
import { Slots } from "../../../src/delivery/worker/Slots.ts"
import { makePartition, makeTenant } from "../../../src/delivery/worker/WorkSet.ts"
import { int, listOf } from "../../arbitraries.ts"
import { makeLoaded } from "./DestinationLife.ts"

const concurrency = 1000

const makeSlots = () => new Slots({ concurrency, maxBytesInFlight: 1_000_000 })

const owner = (tenant: number, client: number): SlotOwner => ({ tenantId: `tenant ${tenant}`, client: `client ${client}` })

const destinationOf = ({ client, tenantId }: SlotOwner, failing = false): Destination => {
  const settings: LoadedDestination = makeLoaded({}, { client })
  return Object.assign(makeDestination("destination", makePartition(makeTenant(tenantId), { tenantId, partition: 0, epoch: 1, othersUntil: undefined }, 0)), { settings, breaker: { failures: failing ? 1 : 0, openUntil: undefined } })
}

/** The owners take one slot each in turn, until none is admitted. */
const fill = (slots: Slots, owners: ReadonlyArray<SlotOwner>): ReadonlyArray<number> => {
  const had = owners.map(() => 0)
  for (let more = true; more;) {
    more = false
    for (const [n, each] of owners.entries()) {
      if (slots.ofClient(each) === 0) continue
      slots.use(each, 1, false)
      had[n]! += 1
      more = true
    }
  }
  return had
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
    assert.strictEqual(slots.ofClient(owner(1, 1)), 500)
    slots.use(owner(1, 1), 500, false)
    assert.strictEqual(slots.ofClient(owner(1, 1)), 0)
    assert.strictEqual(slots.ofClient(owner(1, 2)), 250)
    assert.strictEqual(slots.ofClient(owner(2, 1)), 250)
  })

  it("are given back", () => {
    const slots = makeSlots()
    fill(slots, [owner(1, 1)])
    slots.use(owner(1, 1), -500, false)
    assert.deepStrictEqual([slots.used, slots.ofClient(owner(1, 1)), slots.ofTenant("tenant 1")], [0, 500, 750])
  })

  it.prop(
    "always have room for a client of another tenant, as long as few tenants take all they may",
    [listOf(Arbitrary.all({ tenant: int(1, 3), client: int(1, 4), wanted: int(1, 600) }), 1, 60)],
    ([wishes]) => {
      const slots = makeSlots()
      for (const { client, tenant, wanted } of wishes) {
        const each = owner(tenant, client)
        slots.use(each, Math.min(wanted, slots.ofClient(each)), false)
      }
      assert.isAtMost(slots.used, concurrency)
      assert.isAtLeast(slots.ofClient(owner(9, 9)), 1)
    },
    { arbitrary: { runs: 300, size: 60 } }
  )

  it("are withheld while too many outcomes are not written or too many bytes are in flight", () => {
    const slots = makeSlots()
    slots.unwritten = concurrency
    assert.strictEqual(slots.ofClient(owner(1, 1)), 0)
    slots.unwritten = 0
    slots.bytes = 1_000_000
    assert.deepStrictEqual([slots.ofClient(owner(1, 1)), slots.freeBytes], [0, 0])
  })
})

describe("destinations whose last attempt failed", () => {
  it("share a tenth of all slots and get one each, across clients", () => {
    const slots = makeSlots()
    const owners = Array.from({ length: 300 }, (_, n) => owner(n % 3, n))
    const failing = owners.map((each) => destinationOf(each, true))
    for (const [n, destination] of [...failing, ...failing].entries()) {
      const given = slots.of(destination, owners[n % 300]!)
      assert.isAtMost(given, 1)
      if (given === 0) continue
      slots.use(owners[n % 300]!, 1, true)
      attemptsBegin(destination, 0, 1)
    }
    assert.strictEqual(slots.used, concurrency / 10)
  })

  it("take nothing from those whose last attempt was accepted", () => {
    const slots = makeSlots()
    slots.use(owner(2, 2), concurrency / 10, true)
    assert.strictEqual(slots.of(destinationOf(owner(1, 1), true), owner(1, 1)), 0)
    assert.strictEqual(slots.of(destinationOf(owner(1, 1)), owner(1, 1)), 450)
  })

  it("have at least one slot", () => {
    const slots = new Slots({ concurrency: 2, maxBytesInFlight: 1000 })
    assert.strictEqual(slots.of(destinationOf(owner(1, 1), true), owner(1, 1)), 1)
  })
})
