import { describe, expect, it } from "vitest"
import { SeenInMemory } from "../../src/receiver/index.ts"

const claim = (token: string) => ({ token, seconds: 10 })

describe("SeenInMemory", () => {
  it("gives an id to one claim at a time", async () => {
    const memory = new SeenInMemory()
    expect(await memory.claim(["a", "b"], claim("1"))).toEqual(["claimed", "claimed"])
    expect(await memory.claim(["b", "c"], claim("2"))).toEqual(["busy", "claimed"])
    expect(await memory.claim(["a"], claim("1"))).toEqual(["claimed"])
  })

  it("frees what is released, and only by the claim that holds it", async () => {
    const memory = new SeenInMemory()
    await memory.claim(["a"], claim("1"))
    await memory.release(["a"], claim("2"))
    expect(await memory.claim(["a"], claim("2"))).toEqual(["busy"])
    await memory.release(["a"], claim("1"))
    expect(await memory.claim(["a"], claim("2"))).toEqual(["claimed"])
  })

  it("frees a claim that ran out", async () => {
    let now = 0
    const memory = new SeenInMemory({ now: () => now })
    await memory.claim(["a"], claim("1"))
    now = 9_999
    expect(await memory.claim(["a"], claim("2"))).toEqual(["busy"])
    now = 10_000
    expect(await memory.claim(["a"], claim("2"))).toEqual(["claimed"])
  })

  it("remembers what was seen, the newest longest, and never forgets a claim", async () => {
    const memory = new SeenInMemory({ capacity: 2 })
    await memory.claim(["held"], claim("1"))
    for (const id of ["a", "b", "c"]) await memory.markSeen([id], claim("2"))
    expect(await memory.claim(["a", "b", "c", "held"], claim("3"))).toEqual(["claimed", "seen", "seen", "busy"])
  })

  it("refuses to remember nothing", () => {
    for (const capacity of [0, -1, NaN]) expect(() => new SeenInMemory({ capacity })).toThrow(RangeError)
  })
})
