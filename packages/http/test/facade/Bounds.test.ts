import { describe, expect, it } from "vitest"
import { maxHostValues } from "../../src/facade/Bounds.ts"
import { carrier, customer, rejection, startWithTenant } from "./Host.ts"

/** Counts how many of its items were read. */
const watchedList = (length: number) => {
  const seen = { items: 0 }
  const list = new Proxy(Array.from({ length }, () => 0), {
    get: (target, name, receiver) => {
      if (typeof name === "string" && /^\d+$/.test(name)) seen.items += 1
      return Reflect.get(target, name, receiver) as unknown
    }
  })
  return { list, seen }
}

const members = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`m${n}`, 0]))

describe("an argument from a host", () => {
  it("is refused for an object with too many members, at any depth, before it is copied", async () => {
    const waybill = await startWithTenant()
    const refused = { code: "invalid_input", message: expect.stringContaining("An object has at most 1000 members.") }
    const wide = members(1001)
    for (const call of [
      () => waybill.events.publish(carrier, [wide] as never),
      () => waybill.events.publish(carrier, [{ attributes: wide }] as never),
      () => waybill.subscriptions.create(customer, wide as never),
      () => waybill.subscriptions.list(customer, wide as never),
      () => waybill.invoices.create(carrier, { attributes: [wide] } as never),
      () => waybill.pickups.create(customer, wide as never),
      () => waybill.tenants.put("acme", wide as never),
      () => waybill.allSubscriptions.list("acme", wide as never)
    ]) expect(await rejection(call())).toMatchObject(refused)
  })

  it("is refused for a list by its length alone", async () => {
    const waybill = await startWithTenant()
    const { list, seen } = watchedList(maxHostValues + 1)
    expect((await rejection(waybill.invoices.create(carrier, { invoiceCharges: list } as never))).message).toContain(`at most ${maxHostValues} items`)
    expect(seen.items).toBe(0)
  })

  it("is refused for too many values in many lists, without blocking other work", async () => {
    const waybill = await startWithTenant()
    const lists = Array.from({ length: 200 }, () => Array.from({ length: 1000 }, () => 0))
    let turns = 0
    const immediate = setImmediate(() => turns += 1)
    const { message } = await rejection(waybill.invoices.create(carrier, { invoiceCharges: lists } as never))
    clearImmediate(immediate)
    expect(message).toContain(`at most ${maxHostValues} values`)
    expect(turns).toBe(1)
  })

  it("may have as many values in each item of a call", async () => {
    const waybill = await startWithTenant()
    const item = { unknown: Array.from({ length: 60 }, () => Array.from({ length: 1000 }, () => 0)) }
    const { code, message } = await rejection(waybill.events.publish(carrier, [item, item, item] as never))
    expect(code).toBe("invalid_input")
    expect(message).not.toContain("values")
  })

  it("is refused for its number of items before any of them is counted", async () => {
    const waybill = await startWithTenant()
    const { list, seen } = watchedList(10_001)
    expect((await rejection(waybill.events.publish(carrier, list as never))).message).toContain("At most 1000 events in one call")
    expect(seen.items).toBe(0)
  })
})
