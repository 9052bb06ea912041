import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { encodeTexts } from "../../src/shared/EncodeTexts.ts"

const decoder = new TextDecoder()

const decoded = (texts: ReadonlyArray<string>) => Effect.map(encodeTexts(texts), (encoded) => encoded.map((bytes) => decoder.decode(bytes)))

describe("encoding texts", () => {
  it.effect("gives each text its own bytes", Effect.fnUntraced(function*() {
    const texts = ["a", "", "bc", "d".repeat(100)]
    assert.deepStrictEqual(yield* decoded(texts), texts)
    assert.deepStrictEqual(yield* decoded([]), [])
  }))

  it.effect("keeps characters of several bytes", Effect.fnUntraced(function*() {
    const texts = ["München", "plain", "日本", "🚚", "last"]
    assert.deepStrictEqual(yield* decoded(texts), texts)
  }))

  it.effect("does not join half characters of two texts", Effect.fnUntraced(function*() {
    assert.deepStrictEqual(yield* decoded(["\ud83d", "\ude9a"]), ["\ufffd", "\ufffd"])
  }))

  it.effect("keeps the order of more texts than one group holds", Effect.fnUntraced(function*() {
    const texts = Array.from({ length: 300 }, (_, n) => `${n} ${"x".repeat(n % 7 === 0 ? 70_000 : 500)}`)
    assert.deepStrictEqual(yield* decoded(texts), texts)
  }))
})
