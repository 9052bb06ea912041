import { assert, describe, it } from "@effect/vitest"
import { RecentMap } from "@waybill/core"
import { int, listOf } from "../arbitraries.ts"

describe("RecentMap", () => {
  it.prop("holds only the latest entries, in any order of puts", [int(1, 5), listOf(int(0, 9), 0, 40)], ([limit, keys]) => {
    const recent = new RecentMap<number>(limit)
    for (const [n, key] of keys.entries()) recent.put(String(key), n)
    const latest = [...new Set(keys.toReversed())].slice(0, limit)
    assert.strictEqual(recent.size, latest.length)
    for (let key = 0; key <= 9; key++) {
      assert.strictEqual(recent.has(String(key)), latest.includes(key))
      assert.strictEqual(recent.get(String(key)), latest.includes(key) ? keys.lastIndexOf(key) : undefined)
    }
  })
})
