import { describe, expect, it } from "@effect/vitest"
import { effectCopy, makeStorage, type StorageAdapter, storageAdapter, type WaybillStorage } from "@waybill/core"
import { Effect, Layer } from "effect"

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
