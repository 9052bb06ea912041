import { assert, describe, it } from "@effect/vitest"
import { readFileSync } from "node:fs"
import { hostileBehaviours, startHostileReceiver } from "@waybill/conformance/hostile"
import { endAfterwards } from "../endAfterwards.ts"
import { attacks } from "./AttackList.ts"

const packages = new URL("../../../", import.meta.url)

const all = Object.values(attacks)

const hostile = await startHostileReceiver({ behaviours: [] })
endAfterwards(() => hostile.stop())

describe("the list of attacks", () => {
  it("has 58, numbered without a gap", () => assert.deepStrictEqual(Object.keys(attacks).map(Number), Array.from({ length: 58 }, (_, n) => n + 1)))

  it("has a proof for each", () => {
    for (const { attack, behaviours = [], names = [], tests = [], urls = [] } of all) {
      assert.isAbove(behaviours.length + names.length + tests.length + urls.length, 0, attack)
    }
  })

  it("names every behaviour of a hostile receiver once, except for one that serves two", () => {
    const named = all.flatMap(({ behaviours = [] }) => behaviours)
    assert.deepStrictEqual([...new Set(named)].sort(), hostileBehaviours.map(({ name }) => name).sort())
    assert.deepStrictEqual(named.filter((name, at) => named.indexOf(name) !== at), ["refuses-before-body"])
  })

  it("names every hostile name, and reaches every hostile URL", () => {
    assert.deepStrictEqual(all.flatMap(({ names = [] }) => names).sort(), hostile.names.map(({ name }) => name).sort())
    const beginnings = all.flatMap(({ urls = [] }) => urls)
    for (const beginning of beginnings) assert.isTrue(hostile.urls.some(({ name }) => name.startsWith(beginning)), beginning)
    assert.deepStrictEqual(hostile.urls.filter(({ name }) => !beginnings.some((beginning) => name.startsWith(beginning))), [])
  })

  it("refers to existing tests", () => {
    for (const { tests = [] } of all) {
      for (const [file, title] of tests) assert.include(readFileSync(new URL(file, packages), "utf8"), title, file)
    }
  })
})
