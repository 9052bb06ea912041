import { assert, describe, it } from "@effect/vitest"
import { ContentHash } from "@waybill/core/invoices"
import { Effect } from "effect"
import { ContentHashNode } from "../../src/invoices/ContentHashNode.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

describe("ContentHashNode", () => {
  it.effect("computes the SHA-256 of FIPS 180, wherever the content is split", Effect.fnUntraced(function*() {
    const { sha256 } = yield* ContentHash
    const hashOf = (...chunks: ReadonlyArray<string>) => {
      const hash = sha256()
      for (const chunk of chunks) hash.update(bytes(chunk))
      return Buffer.from(hash.digest()).toString("hex")
    }
    assert.strictEqual(hashOf(), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    for (const chunks of [["abc"], ["a", "bc"], ["", "ab", "", "c"]]) {
      assert.strictEqual(hashOf(...chunks), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    }
  }, Effect.provide(ContentHashNode.layer)))
})
