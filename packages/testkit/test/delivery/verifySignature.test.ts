import { assert, describe, it } from "@effect/vitest"
import { verifySignature } from "../../src/delivery/verifySignature.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

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
