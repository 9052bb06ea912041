import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createHmac } from "node:crypto"
import { Hmac } from "@waybill/core/delivery"
import { HmacNode } from "../../src/webhook-sender/HmacNode.ts"

const base64 = (hex: string) => Buffer.from(hex, "hex").toString("base64")
const bytes = (text: string) => new TextEncoder().encode(text)

describe("HmacNode", () => {
  it.effect("computes the published vectors", Effect.fnUntraced(function*() {
    const hmac = yield* Hmac
    const key = new Uint8Array(20).fill(0x0b)
    assert.strictEqual(hmac.sha256(key, ["Hi There"]), base64("b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"))
    assert.strictEqual(
      hmac.sha256(new Uint8Array(131).fill(0xaa), [bytes("Test Using Larger Than Block-Size Key - Hash Key First")]),
      base64("60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
    )
  }, Effect.provide(HmacNode.layer)))

  it.effect("hashes texts and bytes like one piece", Effect.fnUntraced(function*() {
    const hmac = yield* Hmac
    const key = bytes("Jefe")
    const expected = base64("5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    const cuts = [
      ["what do ya want for nothing?"],
      ["what do ", "", bytes("ya want"), " for nothing?"],
      [bytes("what do "), bytes(""), "ya want", " for ", bytes("nothing?")]
    ]
    for (const pieces of cuts) assert.strictEqual(hmac.sha256(key, pieces), expected)
    assert.strictEqual(hmac.sha256(key, ["Zürich"]), hmac.sha256(key, [bytes("Zürich")]))
    assert.lengthOf(Buffer.from(hmac.sha256(key, []), "base64"), 32)
  }, Effect.provide(HmacNode.layer)))

  it.effect("hashes content of every size", Effect.fnUntraced(function*() {
    const hmac = yield* Hmac
    for (const keyBytes of [0, 1, 32, 64, 65]) {
      const key = new Uint8Array(keyBytes).fill(0xc3)
      for (const size of [0, 1, 55, 56, 63, 64, 5_000, 16_319, 16_320, 16_321, 16_384, 200_000]) {
        const body = Buffer.alloc(size, "abcdefg")
        const expected = createHmac("sha256", key).update("é").update(body).digest("base64")
        assert.strictEqual(hmac.sha256(key, ["é", body]), expected, `${keyBytes} ${size}`)
        assert.strictEqual(hmac.sha256(key, ["é", body.toString()]), expected, `${keyBytes} ${size}`)
      }
    }
  }, Effect.provide(HmacNode.layer)))
})
