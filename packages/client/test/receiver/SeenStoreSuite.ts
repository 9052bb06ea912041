/** Conformance of `SeenStore`. */
import { forRandom } from "@waybill/conformance/fixtures"
import { describe, expect, it } from "vitest"
import type { ClaimAnswer, SeenStore } from "../../src/receiver/index.ts"

/** Empty storage of one receiver. */
interface SeenStorage {
  /** The store of another process on the same storage. In memory it is the same store. */
  readonly store: () => SeenStore
  /** Lets time pass in the storage. */
  readonly advance: (millis: number) => unknown
}

const claim = (token: string, seconds = 10) => ({ token, seconds })

const oddIds = [
  "__proto__", "constructor", "'; DROP TABLE waybill_seen; --", "\"", "\\", "a\u0000", "a", "\u0000", "é", "e\u0301", "🚚", "\ud83d", "\ud83e", " ", "",
  "null", "{}", "[\"a\"]", "sha256:", `sha256:${"0".repeat(64)}`, "x".repeat(200), "x".repeat(201), `${"x".repeat(5000)}a`, `${"x".repeat(5000)}b`, "🚚".repeat(1000)
]

export const seenStoreSuite = (name: string, open: () => SeenStorage | Promise<SeenStorage>) =>
  describe(name, () => {
    it("grants an id to one claim at a time, and answers in order", async () => {
      const { store } = await open()
      expect(await store().claim(["a", "b"], claim("1"))).toEqual(["claimed", "claimed"])
      expect(await store().claim(["c", "b", "d", "a"], claim("2"))).toEqual(["claimed", "busy", "claimed", "busy"])
    })

    it("answers the same claim again as before, also for a repeated id", async () => {
      const { store } = await open()
      for (let time = 0; time < 2; time++) expect(await store().claim(["a", "b", "a"], claim("1"))).toEqual(["claimed", "claimed", "claimed"])
    })

    it("answers that handled ids are seen, to every claim", async () => {
      const { store } = await open()
      await store().claim(["a", "b"], claim("1"))
      await store().markSeen(["a"], claim("1"))
      for (const token of ["1", "2"]) expect((await store().claim(["a"], claim(token)))).toEqual(["seen"])
      expect(await store().claim(["b", "a", "c"], claim("2"))).toEqual(["busy", "seen", "claimed"])
    })

    it("releases an id only for the claim that holds it", async () => {
      const { store } = await open()
      await store().claim(["a", "b"], claim("1"))
      await store().release(["a", "b", "never claimed"], claim("2"))
      expect(await store().claim(["a"], claim("2"))).toEqual(["busy"])
      await store().release(["a"], claim("1"))
      expect(await store().claim(["a", "b"], claim("2"))).toEqual(["claimed", "busy"])
    })

    it("does not release handled ids", async () => {
      const { store } = await open()
      await store().claim(["a"], claim("1"))
      await store().markSeen(["a"], claim("1"))
      await store().release(["a"], claim("1"))
      expect(await store().claim(["a"], claim("2"))).toEqual(["seen"])
    })

    it("frees an expired claim, whose late release does not affect the next one", async () => {
      const { advance, store } = await open()
      await store().claim(["a"], claim("1", 10))
      await advance(9_000)
      expect(await store().claim(["a"], claim("2"))).toEqual(["busy"])
      await advance(1_000)
      expect(await store().claim(["a"], claim("2"))).toEqual(["claimed"])
      await store().release(["a"], claim("1"))
      expect(await store().claim(["a"], claim("3"))).toEqual(["busy"])
    })

    it("keeps an id as handled, although its claim had expired and passed to another", async () => {
      const { advance, store } = await open()
      await store().claim(["a", "b"], claim("1", 10))
      await advance(10_000)
      await store().claim(["a"], claim("2"))
      await store().markSeen(["a", "b"], claim("1"))
      await store().release(["a"], claim("2"))
      expect(await store().claim(["a", "b"], claim("3"))).toEqual(["seen", "seen"])
    })

    it("keeps handled ids long after claims expire", async () => {
      const { advance, store } = await open()
      await store().claim(["a"], claim("1"))
      await store().markSeen(["a"], claim("1"))
      await advance(7 * 86_400_000)
      expect(await store().claim(["a"], claim("2"))).toEqual(["seen"])
    })

    it("takes any text as id, and confuses none", async () => {
      const { store } = await open()
      for (const [index, id] of oddIds.entries()) expect(await store().claim([id], claim(`${index}`)), JSON.stringify(id).slice(0, 50)).toEqual(["claimed"])
      expect(await store().claim(oddIds, claim("other"))).toEqual(oddIds.map(() => "busy"))
      await store().markSeen(oddIds, claim("other"))
      expect(await store().claim(oddIds, claim("next"))).toEqual(oddIds.map(() => "seen"))
    })

    it("takes no id, and 2,000 at once", async () => {
      const { store } = await open()
      expect(await store().claim([], claim("1"))).toEqual([])
      await store().markSeen([], claim("1"))
      await store().release([], claim("1"))
      const ids = Array.from({ length: 2000 }, (_, index) => `event ${index}`)
      expect(new Set(await store().claim(ids, claim("1")))).toEqual(new Set(["claimed"]))
      await store().markSeen(ids.slice(0, 1000), claim("1"))
      await store().release(ids, claim("1"))
      expect(await store().claim(ids, claim("2"))).toEqual(ids.map((_, index): ClaimAnswer => index < 1000 ? "seen" : "claimed"))
    })

    it("grants each id to one of many concurrent claims", () => forRandom(5, async (random) => {
      const { store } = await open()
      const ids = Array.from({ length: 30 }, (_, index) => `${index}`)
      const claims = Array.from({ length: 12 }, (_, token) => ({ ...claim(`${token}`), ids: random.shuffle(ids).slice(0, 1 + random.below(30)) }))
      const answers = await Promise.all(claims.map((each) => store().claim(each.ids, each)))
      const granted = claims.flatMap(({ ids, token }, index) => ids.filter((_, at) => answers[index]![at] === "claimed").map((id) => ({ id, token })))
      expect(new Set(answers.flat())).not.toContain("seen")
      expect(granted.map(({ id }) => id).toSorted()).toEqual([...new Set(claims.flatMap((each) => each.ids))].toSorted())
      // All of them end at once, in any order, by release or mark.
      const marked = new Set(random.shuffle(granted).slice(0, granted.length / 2).map(({ id }) => id))
      await Promise.all(claims.flatMap((each) => {
        const mine = random.shuffle(granted.filter(({ token }) => token === each.token).map(({ id }) => id))
        return [store().markSeen(mine.filter((id) => marked.has(id)), each), store().release(mine.filter((id) => !marked.has(id)), each)]
      }))
      expect(await store().claim(ids, claim("last"))).toEqual(ids.map((id) => marked.has(id) ? "seen" : "claimed"))
    }))
  })
