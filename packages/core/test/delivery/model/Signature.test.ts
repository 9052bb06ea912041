import { assert, describe, it } from "@effect/vitest"
import { formatSecret, type HmacSha256, parseSecret, requestHeaders, signatureHeader } from "@waybill/core/delivery"
import { createHmac } from "node:crypto"

const hmac: HmacSha256 = (key, pieces) => {
  const mac = createHmac("sha256", key)
  for (const piece of pieces) mac.update(piece)
  return mac.digest("base64")
}

const bytes = (text: string) => new TextEncoder().encode(text)

/** Test vectors of Standard Webhooks, so that the signature is not verified by our own code only. */
const vectors = [
  {
    secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
    deliveryId: "msg_p5jXN8AQM9LWM0D4loKWxJek",
    timestampSeconds: 1_614_265_330,
    body: "{\"test\": 2432232314}",
    signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
  },
  {
    secret: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
    deliveryId: "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk",
    timestampSeconds: 1_649_367_553,
    body: "{\"email\":\"test@example.com\",\"username\":\"test_user\"}",
    signature: "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw="
  }
] as const

describe("signatureHeader (SPEC-GAP-D3)", () => {
  it.for(vectors)("makes the published signature of $deliveryId", ({ body, deliveryId, secret, signature, timestampSeconds }) => {
    const content = { deliveryId, timestampSeconds, body: [bytes(body)] }
    assert.strictEqual(signatureHeader(hmac, [parseSecret(secret)!], content), signature)
  })

  it("signs once for every live key, newest first, separated by one blank", () => {
    const [a, b] = vectors
    const content = { deliveryId: a.deliveryId, timestampSeconds: a.timestampSeconds, body: [bytes(a.body)] }
    const keys = [parseSecret(b.secret)!, parseSecret(a.secret)!]
    const [first, second, ...others] = signatureHeader(hmac, keys, content).split(" ")
    assert.strictEqual(first, signatureHeader(hmac, [keys[0]!], content))
    assert.strictEqual(second, a.signature)
    assert.deepStrictEqual(others, [])
  })

  it("changes with the id, the time and every byte of the body", () => {
    const { body, deliveryId, secret, timestampSeconds } = vectors[0]
    const key = parseSecret(secret)!
    const sign = (id: string, time: number, text: string) => signatureHeader(hmac, [key], { deliveryId: id, timestampSeconds: time, body: [text] })
    const signatures = [sign(deliveryId, timestampSeconds, body), sign("x", timestampSeconds, body), sign(deliveryId, 1, body), sign(deliveryId, timestampSeconds, `${body} `)]
    assert.strictEqual(new Set(signatures).size, 4)
  })
})

describe("X-Signature", () => {
  it("is base64 of the HMAC over the bare body", () => {
    const content = { deliveryId: "id", timestampSeconds: 1, body: ["The quick brown fox ", bytes("jumps over the lazy dog")] }
    const expected = createHmac("sha256", "key").update("The quick brown fox jumps over the lazy dog").digest("base64")
    assert.strictEqual(requestHeaders(hmac, [bytes("key")], content, true)["x-signature"], expected)
    assert.strictEqual(expected, Buffer.from("f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8", "hex").toString("base64"))
  })
})

describe("parseSecret", () => {
  it("reads 24 to 64 bytes of standard base64", () => {
    for (const length of [24, 25, 26, 32, 63, 64]) {
      const key = Uint8Array.from({ length }, (_, n) => n * 7)
      assert.deepStrictEqual(parseSecret(formatSecret(key)), key)
    }
  })

  it("refuses secrets that are shorter, longer, not base64, or without the prefix", () => {
    const good = formatSecret(new Uint8Array(24))
    const refused = [
      formatSecret(new Uint8Array(23)),
      formatSecret(new Uint8Array(65)),
      "",
      "whsec_",
      "whsec_!!!",
      good.slice(6),
      ` ${good}`,
      `${good}\n`,
      good.replace("whsec_", "whsk_"),
      `whsec_${"-_".repeat(16)}`,
      `whsec_${"A".repeat(33)}`,
      `whsec_${"A".repeat(32)}=`
    ]
    for (const text of refused) assert.isUndefined(parseSecret(text), text)
  })
})
