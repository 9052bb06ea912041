import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Hmac } from "@waybill/core"
import { HmacNode } from "../../src/webhook-sender/HmacNode.ts"

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")
const text = (...parts: ReadonlyArray<string>) => parts.map((part) => new TextEncoder().encode(part))

describe("HmacNode", () => {
  it.effect("computes the published vectors", () =>
    Effect.gen(function*() {
      const hmac = yield* Hmac
      const key = new Uint8Array(20).fill(0x0b)
      assert.strictEqual(hex(hmac.sha256(key, text("Hi There"))), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
      assert.strictEqual(
        hex(hmac.sha256(new Uint8Array(131).fill(0xaa), text("Test Using Larger Than Block-Size Key - Hash Key First"))),
        "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
      )
    }).pipe(Effect.provide(HmacNode.layer)))

  it.effect("hashes chunks like one piece", () =>
    Effect.gen(function*() {
      const hmac = yield* Hmac
      const [key] = text("Jefe")
      const expected = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
      assert.strictEqual(hex(hmac.sha256(key!, text("what do ya want for nothing?"))), expected)
      assert.strictEqual(hex(hmac.sha256(key!, text("what do ", "", "ya want", " for nothing?"))), expected)
      assert.lengthOf(hmac.sha256(key!, []), 32)
    }).pipe(Effect.provide(HmacNode.layer)))
})
