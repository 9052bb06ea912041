import { describe, expect, it } from "@effect/vitest"
import { areas, effectCopy, makeStorage, type StorageAdapter, storageAdapter, type WaybillStorage } from "@waybill/core"
import { Effect, Layer } from "effect"
import { readFileSync } from "node:fs"

const adapter: StorageAdapter<object> = { layer: Layer.empty as never, joined: () => (effect) => effect }

describe("a storage", () => {
  it("is unwrapped by the copy of core that made it", () => {
    const unwrapped = storageAdapter(makeStorage(adapter))
    expect(unwrapped?.layer).toBe(adapter.layer)
    expect(Effect.runSync(unwrapped!.joined({})(Effect.succeed(1)))).toBe(1)
  })

  it("of another copy of core is refused with the version and place of both copies", () => {
    const storage = makeStorage(adapter)
    const [symbol] = Object.getOwnPropertySymbols(storage)
    const copy = { version: "4.0.6", loadedBy: "file:///app/node_modules/@waybill/postgres/node_modules/@waybill/core/dist/shared/EffectCopy.js" }
    const foreign = { [symbol!]: { adapter, copy } } as unknown as WaybillStorage
    expect(() => storageAdapter(foreign)).toThrow(new RegExp(`Two copies of effect met: the storage runs on effect 4\\.0\\.6, loaded by ${copy.loadedBy}.*effect ${effectCopy.version}, loaded by ${effectCopy.loadedBy}`))
  })

  it("is recognized by what a storage package made, not by its shape", () => {
    expect(storageAdapter({ layer: Layer.empty } as unknown as WaybillStorage)).toBe(undefined)
  })
})

describe("the table of ports", () => {
  const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8")

  /** The names in a union type of a source file. */
  const membersOf = (path: string, type: string) => {
    const [, members] = new RegExp(`export type ${type} =([^/]*?)\n(?:\n|$)`).exec(read(path))!
    return members!.split("|").map((each) => each.trim()).filter((each) => each !== "" && each !== "AreaStores")
  }

  it("has every storage port and every transport port", () => {
    const listed = Array.from(read("docs/ports.md").matchAll(/^\| `(\w+)` \|/gm), ([, name]) => name)
    const ports = [
      ...membersOf("packages/core/src/Storage.ts", "StoragePorts"),
      ...areas.flatMap(({ stores }) => stores.map(({ key }) => key.split("/").at(-1)!)),
      ...membersOf("packages/core/src/Transport.ts", "TransportPorts")
    ]
    expect(ports).toContain("AuditStore")
    expect(ports.filter((name) => !listed.includes(name))).toEqual([])
  })
})
