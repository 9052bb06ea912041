import { assert, describe, it } from "@effect/vitest"
import { hmacSha256, verifySignature } from "../../src/delivery/HmacSha256.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

describe("hmacSha256", () => {
  it("computes the HMAC of RFC 4231, case 1, of texts and bytes", () => {
    const key = new Uint8Array(20).fill(0x0b)
    const expected = Buffer.from("b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7", "hex").toString("base64")
    for (const pieces of [["Hi There"], ["Hi ", bytes("There")], ["", bytes("Hi There"), ""]]) assert.strictEqual(hmacSha256(key, pieces), expected)
  })
})

describe("verifySignature", () => {
  const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
  const request = {
    headers: {
      "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
      "webhook-timestamp": "1614265330",
      "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    },
    body: bytes("{\"test\": 2432232314}")
  }

  it("accepts a published signature, alone or in a list", () => {
    assert.isTrue(verifySignature(secret, request))
    const headers = { ...request.headers, "webhook-signature": `v1,AAAA v2,x ${request.headers["webhook-signature"]}` }
    assert.isTrue(verifySignature(secret, { ...request, headers }))
  })

  it("refuses another secret, body, id or time, and malformed signatures", () => {
    assert.isFalse(verifySignature("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD", request))
    assert.isFalse(verifySignature("no secret", request))
    assert.isFalse(verifySignature(secret, { ...request, body: bytes("{}") }))
    for (const [name, value] of [["webhook-id", "x"], ["webhook-timestamp", "1614265331"], ["webhook-signature", ""], ["webhook-signature", "garbage"]] as const) {
      assert.isFalse(verifySignature(secret, { ...request, headers: { ...request.headers, [name]: value } }))
    }
    assert.isFalse(verifySignature(secret, { headers: {}, body: request.body }))
  })
})
