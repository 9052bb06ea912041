import { describe, expect, it } from "vitest"
import { SeenInMemory } from "../../src/receiver/index.ts"

const claim = (token: string) => ({ token, seconds: 10 })

describe("SeenInMemory", () => {
  it("grants an id to one claim at a time", async () => {
    const memory = new SeenInMemory()
    expect(await memory.claim(["a", "b"], claim("1"))).toEqual(["claimed", "claimed"])
    expect(await memory.claim(["b", "c"], claim("2"))).toEqual(["busy", "claimed"])
    expect(await memory.claim(["a"], claim("1"))).toEqual(["claimed"])
  })

  it("releases an id only for the claim that holds it", async () => {
    const memory = new SeenInMemory()
    await memory.claim(["a"], claim("1"))
    await memory.release(["a"], claim("2"))
    expect(await memory.claim(["a"], claim("2"))).toEqual(["busy"])
    await memory.release(["a"], claim("1"))
    expect(await memory.claim(["a"], claim("2"))).toEqual(["claimed"])
  })

  it("frees an expired claim", async () => {
    let now = 0
    const memory = new SeenInMemory({ now: () => now })
    await memory.claim(["a"], claim("1"))
    now = 9_999
    expect(await memory.claim(["a"], claim("2"))).toEqual(["busy"])
    now = 10_000
    expect(await memory.claim(["a"], claim("2"))).toEqual(["claimed"])
  })

  it("keeps the newest seen ids, and never evicts a claim", async () => {
    const memory = new SeenInMemory({ capacity: 2 })
    await memory.claim(["held"], claim("1"))
    for (const id of ["a", "b", "c"]) await memory.markSeen([id], claim("2"))
    expect(await memory.claim(["a", "b", "c", "held"], claim("3"))).toEqual(["claimed", "seen", "seen", "busy"])
  })

  it("refuses a capacity of 0", () => {
    for (const capacity of [0, -1, NaN]) expect(() => new SeenInMemory({ capacity })).toThrow(RangeError)
  })
})
