import { forRandom } from "@waybill/conformance/fixtures"
import { createHmac } from "node:crypto"
import type { IncomingMessage } from "node:http"
import { describe, expect, it } from "vitest"
import { type DeliveryHeaders, type RefusalReason, signDelivery, verifyDelivery, verifyXSignature } from "../../src/receiver/index.ts"
import { bytesOf, otherSecret, secret } from "../samples.ts"

interface Vector {
  readonly secret: string
  readonly id: string
  readonly timestamp: number
  readonly body: string
  readonly signature: string
}

// Published by Standard Webhooks and its implementers.
const a: Vector = {
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
  timestamp: 1614265330,
  body: "{\"test\": 2432232314}",
  signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
}
const b: Vector = {
  secret: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD",
  id: "msg_27UH4WbU6Z5A5EzD8u03UvzRbpk",
  timestamp: 1649367553,
  body: "{\"email\":\"test@example.com\",\"username\":\"test_user\"}",
  signature: "v1,tZ1I4/hDygAJgO5TYxiSd6Sd0kDW6hPenDe+bTa3Kkw="
}
const v1a = "v1a,hnO3f9T8Ytu9HwrXslvumlUpqtNVqkhqw/enGzPCXe5BdqzCInXqYXFymVJaA7AZdpXwVLPo3mNl8EM+m7TBAg=="

const at = (seconds: number) => new Date(seconds * 1000)
const headersOf = (vector: Vector) => ({
  "webhook-id": vector.id,
  "webhook-timestamp": String(vector.timestamp),
  "webhook-signature": vector.signature
})
const verify = (vector: Vector, change: Partial<Parameters<typeof verifyDelivery>[0]> = {}) =>
  verifyDelivery({ secrets: vector.secret, headers: headersOf(vector), body: bytesOf(vector.body), now: at(vector.timestamp), ...change })
const refused = (reason: RefusalReason) => expect.objectContaining({ name: "DeliveryRefused", reason })

/** A valid signature over exactly this text and body, even if no sender would sign it. */
const signatureOver = (prefix: string, body: Uint8Array, key = secret) =>
  `v1,${createHmac("sha256", Buffer.from(key.slice(6), "base64")).update(prefix).update(body).digest("base64")}`

describe("verifyDelivery", () => {
  it.each([["A", a], ["B", b]])("accepts the published vector %s", async (_, vector) => {
    expect(await verify(vector)).toEqual({ deliveryId: vector.id, signedAt: at(vector.timestamp), secretIndex: 0 })
  })

  it("refuses the specification's example header, which belongs to another id and time", async () => {
    await expect(verify(a, { headers: { ...headersOf(a), "webhook-signature": v1a } })).rejects.toEqual(refused("no_known_signature"))
    await expect(verify(b, { headers: { ...headersOf(b), "webhook-signature": a.signature } })).rejects.toEqual(refused("signature_mismatch"))
  })

  it("accepts the signatures of signDelivery", async () => {
    const body = bytesOf("{}")
    const { headers } = await signDelivery({ secrets: [secret], deliveryId: "d-1", body })
    expect((await verifyDelivery({ secrets: secret, headers, body })).deliveryId).toBe("d-1")
  })

  it("signs the published vectors as published", async () => {
    for (const vector of [a, b]) {
      const { headers } = await signDelivery({ secrets: vector.secret, deliveryId: vector.id, body: vector.body, now: at(vector.timestamp + 0.9) })
      expect(headers).toEqual({ "content-type": "application/json", ...headersOf(vector) })
    }
  })

  describe("during a rotation", () => {
    const body = bytesOf("{}")

    it("accepts the old secret and the new one, and returns which matched", async () => {
      const { headers: signed } = await signDelivery({ secrets: [secret, otherSecret], deliveryId: "d", body })
      expect(signed["webhook-signature"].split(" ")).toHaveLength(2)
      expect((await verifyDelivery({ secrets: [otherSecret], headers: signed, body })).secretIndex).toBe(0)
      expect((await verifyDelivery({ secrets: [secret], headers: signed, body })).secretIndex).toBe(0)
      const { headers: byOld } = await signDelivery({ secrets: otherSecret, deliveryId: "d", body })
      expect((await verifyDelivery({ secrets: [secret, otherSecret], headers: byOld, body })).secretIndex).toBe(1)
    })

    it("refuses the old secret once it is removed", async () => {
      const { headers: byOld } = await signDelivery({ secrets: otherSecret, deliveryId: "d", body })
      await expect(verifyDelivery({ secrets: [secret], headers: byOld, body })).rejects.toEqual(refused("signature_mismatch"))
    })
  })

  describe("with many signatures", () => {
    it("accepts the one that matches and ignores unknown versions", async () => {
      const header = `v1a,AAAA ${v1a} v2,${a.signature.slice(3)} v1,AAAA ${a.signature} nonsense`
      expect((await verify(a, { headers: { ...headersOf(a), "webhook-signature": header } })).deliveryId).toBe(a.id)
    })

    it("refuses a valid signature under another version", async () => {
      for (const version of ["v2", "v1a", "V1", "v10", "", "v1:"]) {
        const header = `${version},${a.signature.slice(3)}`
        await expect(verify(a, { headers: { ...headersOf(a), "webhook-signature": header } })).rejects.toEqual(refused("no_known_signature"))
      }
    })

    it("refuses a header of 10,000 signatures without hashing", async () => {
      const header = [...Array.from({ length: 9999 }, () => `v1,${"A".repeat(43)}=`), a.signature].join(" ")
      await expect(verify(a, { headers: { ...headersOf(a), "webhook-signature": header } })).rejects.toEqual(refused("header_too_long"))
    })

    it("compares at most 32", async () => {
      const filled = (count: number) => [...Array.from({ length: count }, () => "v1,x"), a.signature].join(" ")
      expect((await verify(a, { headers: { ...headersOf(a), "webhook-signature": filled(31) } })).deliveryId).toBe(a.id)
      await expect(verify(a, { headers: { ...headersOf(a), "webhook-signature": filled(32) } })).rejects.toEqual(refused("signature_mismatch"))
    })
  })

  describe("with a timestamp", () => {
    it("accepts 300 seconds of difference in both directions, and no more", async () => {
      for (const off of [-300, 0, 300]) expect((await verify(a, { now: at(a.timestamp + off) })).deliveryId).toBe(a.id)
      await expect(verify(a, { now: at(a.timestamp + 301) })).rejects.toEqual(refused("timestamp_too_old"))
      await expect(verify(a, { now: at(a.timestamp - 301) })).rejects.toEqual(refused("timestamp_in_future"))
    })

    it("applies the given tolerance", async () => {
      expect((await verify(a, { now: at(a.timestamp + 0.9), toleranceSeconds: 0 })).deliveryId).toBe(a.id)
      await expect(verify(a, { now: at(a.timestamp + 1), toleranceSeconds: 0 })).rejects.toEqual(refused("timestamp_too_old"))
      for (const toleranceSeconds of [NaN, Infinity, -1]) await expect(verify(a, { toleranceSeconds })).rejects.toThrow(RangeError)
      await expect(verify(a, { now: new Date(NaN) })).rejects.toThrow(RangeError)
    })

    it("uses the clock when no time is given", async () => {
      const { now: _, ...withoutTime } = { secrets: a.secret, headers: headersOf(a), body: bytesOf(a.body), now: 0 }
      await expect(verifyDelivery(withoutTime)).rejects.toEqual(refused("timestamp_too_old"))
    })

    it.each(["1614265330abc", "1e9", " 1614265330", "-1", "+1614265330", "1614265330.0", "0x6037", "١٦١٤٢٦٥٣٣٠", "1614265330\n", "1614265330000"])(
      "refuses %j, although signed",
      async (timestamp) => {
        const body = bytesOf(a.body)
        const headers = { "webhook-id": a.id, "webhook-timestamp": timestamp, "webhook-signature": signatureOver(`${a.id}.${timestamp}.`, body) }
        await expect(verify(a, { headers, toleranceSeconds: 1e12 })).rejects.toEqual(refused("timestamp_malformed"))
      }
    )

  })

  it("refuses an id with a dot, which could shift the border between id and time", async () => {
    const body = bytesOf("{}")
    // One text, two readings: id "a.1700000000" at 1700000001, and id "a" at "1700000000.1700000001".
    const signature = signatureOver("a.1700000000.1700000001.", body)
    const headers = { "webhook-id": "a.1700000000", "webhook-timestamp": "1700000001", "webhook-signature": signature }
    await expect(verifyDelivery({ secrets: secret, headers, body, now: at(1700000001) })).rejects.toEqual(refused("id_malformed"))
    const moved = { "webhook-id": "a", "webhook-timestamp": "1700000000.1", "webhook-signature": signature }
    await expect(verifyDelivery({ secrets: secret, headers: moved, body, now: at(1700000000) })).rejects.toEqual(refused("timestamp_malformed"))
    await expect(signDelivery({ secrets: secret, deliveryId: "a.1700000000", body })).rejects.toThrow(TypeError)
  })

  it.each(["a b", "a\tb", "ä", "a\u0000", "a\n"])("refuses the id %j", async (id) => {
    await expect(verify(a, { headers: { ...headersOf(a), "webhook-id": id } })).rejects.toEqual(refused("id_malformed"))
  })

  it("refuses an id of more than 256 characters", async () => {
    await expect(verify(a, { headers: { ...headersOf(a), "webhook-id": "x".repeat(257) } })).rejects.toEqual(refused("header_too_long"))
  })

  describe("requires headers", () => {
    const cased = { "Webhook-Id": a.id, "WEBHOOK-TIMESTAMP": String(a.timestamp), "webhook-Signature": a.signature }
    const fromNode: IncomingMessage["headers"] = { ...headersOf(a), "set-cookie": ["a", "b"] }
    const forms: ReadonlyArray<readonly [string, DeliveryHeaders]> = [
      ["Node's headers", fromNode],
      ["Headers", new Headers(cased)],
      ["a Map", new Map(Object.entries(cased))],
      ["an object of any letter case", cased],
      ["an object of lists", Object.fromEntries(Object.entries(cased).map(([name, value]) => [name, [value]]))],
      ["pairs", Object.entries(cased)],
      ["Node's rawHeaders", ["host", "x", ...Object.entries(cased).flat()]],
      ["an object with other headers", { ...cased, host: "x", cookie: ["a", "b"], none: undefined }]
    ]
    it.each(forms)("in any form: %s", async (_, headers) => expect((await verify(a, { headers })).deliveryId).toBe(a.id))

    it.each(["webhook-id", "webhook-timestamp", "webhook-signature"])("and refuses when one is missing: %s", async (name) => {
      for (const value of [undefined, "", []]) {
        await expect(verify(a, { headers: { ...headersOf(a), [name]: value } })).rejects.toEqual(refused("header_missing"))
      }
      const headers = new Headers(headersOf(a))
      headers.delete(name)
      await expect(verify(a, { headers })).rejects.toEqual(refused("header_missing"))
    })

    it("and refuses a repeated one, in any form", async () => {
      const twice = [...Object.entries(headersOf(a)), ["Webhook-Id", "another"] as const]
      await expect(verify(a, { headers: twice })).rejects.toEqual(refused("header_repeated"))
      await expect(verify(a, { headers: { ...headersOf(a), "webhook-id": [a.id, a.id] } })).rejects.toEqual(refused("header_repeated"))
      await expect(verify(a, { headers: { ...headersOf(a), "Webhook-Id": "another" } })).rejects.toEqual(refused("header_repeated"))
    })

    it("and ignores inherited members of objects", async () => {
      const inherited = Object.create(headersOf(a)) as DeliveryHeaders
      await expect(verify(a, { headers: inherited })).rejects.toEqual(refused("header_missing"))
    })
  })

  describe("with an invalid secret", () => {
    const bad: ReadonlyArray<readonly [string, string]> = [
      ["empty", ""],
      ["only the prefix", "whsec_"],
      ["garbage", "whsec_!!!"],
      ["no prefix", secret.slice(6)],
      ["URL base64", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa-_"],
      ["without padding", `whsec_${Buffer.alloc(25, 7).toString("base64").replace(/=+$/, "")}`],
      ["a line break at the end", `${secret}\n`],
      ["a blank within", "whsec_MfKQ9r8GKYqrTwjU PD8ILPZIo2LaLaSw"],
      ["23 bytes", `whsec_${Buffer.alloc(23, 7).toString("base64")}`],
      ["65 bytes", `whsec_${Buffer.alloc(65, 7).toString("base64")}`],
      ["a public key", "whpk_1SiA4o9hyqTCpIqC5V9HUakiiaeACeqfZTInDBbOir4="]
    ]
    it.each(bad)("throws without showing it: %s", async (_, text) => {
      const failure = await verify(a, { secrets: text }).catch((error: unknown) => error as Error)
      expect(failure).toMatchObject({ name: "WebhookSecretUnusable" })
      if (text.length > 6) expect((failure as Error).message).not.toContain(text.slice(6).trim())
      await expect(verify(a, { secrets: [secret, text] })).rejects.toMatchObject({ name: "WebhookSecretUnusable" })
    })

    it("throws also for an empty list", async () => {
      await expect(verify(a, { secrets: [] })).rejects.toMatchObject({ name: "WebhookSecretUnusable" })
      await expect(verify(a, { secrets: undefined as unknown as string })).rejects.toMatchObject({ name: "WebhookSecretUnusable" })
    })

    it.each([24, 32, 64])("but accepts %i bytes", async (length) => {
      const key = `whsec_${Buffer.alloc(length, 7).toString("base64")}`
      const body = bytesOf("{}")
      const { headers } = await signDelivery({ secrets: key, deliveryId: "d", body })
      expect((await verifyDelivery({ secrets: key, headers, body })).deliveryId).toBe("d")
    })
  })

  it("accepts text, bytes and an ArrayBuffer", async () => {
    for (const body of [a.body, bytesOf(a.body), bytesOf(a.body).buffer, Buffer.from(a.body)]) {
      expect((await verify(a, { body })).deliveryId).toBe(a.id)
    }
    const text = "{\"city\":\"Montréal 🚚\"}"
    const { headers } = await signDelivery({ secrets: secret, body: bytesOf(text) })
    expect((await verifyDelivery({ secrets: secret, headers, body: text })).secretIndex).toBe(0)
  })

  it("refuses text that was decoded with replacement characters", async () => {
    const body = Uint8Array.of(0x22, 0xff, 0x22)
    const { headers } = await signDelivery({ secrets: secret, body })
    await expect(verifyDelivery({ secrets: secret, headers, body: new TextDecoder().decode(body) })).rejects.toEqual(refused("signature_mismatch"))
  })

  it("requires the body as received, not a parsed one", async () => {
    for (const body of [JSON.parse(a.body), undefined, null, 7, [1, 2], new Map()]) {
      await expect(verify(a, { body: body as Uint8Array })).rejects.toMatchObject({ name: "RawBodyNeeded", message: expect.stringContaining("express.raw({ type: \"*/*\", limit: \"5mb\" })") })
    }
  })

  it("accepts a Node Buffer and a view of a larger buffer", async () => {
    const around = bytesOf(`xx${a.body}xx`)
    expect((await verify(a, { body: Buffer.from(a.body) })).deliveryId).toBe(a.id)
    expect((await verify(a, { body: around.subarray(2, around.length - 2) })).deliveryId).toBe(a.id)
  })

  it("accepts any bytes: none, a byte order mark, half surrogates, invalid UTF-8", async () => {
    for (const body of [new Uint8Array(), bytesOf("\ufeff{}"), bytesOf("\"\\ud800\""), Uint8Array.of(0xff, 0xfe, 0)]) {
      const { headers } = await signDelivery({ secrets: secret, deliveryId: "d", body })
      expect((await verifyDelivery({ secrets: secret, headers, body })).deliveryId).toBe("d")
    }
  })

  it("verifies the bytes of the call, even if the buffer changes during it", async () => {
    const body = bytesOf(a.body)
    const pending = verify(a, { body })
    body.fill(0)
    expect((await pending).deliveryId).toBe(a.id)
  })

  describe("after any single bit flip", () => {
    const flips = (length: number) => Array.from({ length: length * 8 }, (_, bit) => bit)
    const flipped = (text: string, bit: number) =>
      String.fromCharCode(...Array.from(text, (character, index) => character.charCodeAt(0) ^ (index === bit >> 3 ? 1 << (bit & 7) : 0)))

    it("in the body, refuses", async () => {
      for (const bit of flips(a.body.length)) {
        const body = bytesOf(a.body)
        body[bit >> 3]! ^= 1 << (bit & 7)
        await expect(verify(a, { body }), `bit ${bit}`).rejects.toEqual(refused("signature_mismatch"))
      }
    })

    it.each(["webhook-id", "webhook-timestamp", "webhook-signature"] as const)("in %s, refuses", async (name) => {
      const value = headersOf(a)[name]
      for (const bit of flips(value.length)) {
        const headers = { ...headersOf(a), [name]: flipped(value, bit) }
        await expect(verify(a, { headers, toleranceSeconds: 1e12 }), `bit ${bit}`).rejects.toMatchObject({ name: "DeliveryRefused" })
      }
    })

    it("in random deliveries, refuses", () => forRandom(200, async (random) => {
      const body = random.bytes(1 + random.below(300))
      const key = `whsec_${Buffer.from(random.bytes(24 + random.below(41))).toString("base64")}`
      const now = at(random.below(2_000_000_000))
      const { headers } = await signDelivery({ secrets: key, deliveryId: `d${random.below(1e9)}`, body, now })
      expect((await verifyDelivery({ secrets: key, headers, body, now })).secretIndex).toBe(0)
      const bit = random.below(body.length * 8)
      body[bit >> 3]! ^= 1 << (bit & 7)
      await expect(verifyDelivery({ secrets: key, headers, body, now })).rejects.toEqual(refused("signature_mismatch"))
    }))
  })

  it("refuses a body that lost or gained its last byte", async () => {
    await expect(verify(a, { body: bytesOf(a.body.slice(0, -1)) })).rejects.toEqual(refused("signature_mismatch"))
    await expect(verify(a, { body: bytesOf(`${a.body} `) })).rejects.toEqual(refused("signature_mismatch"))
  })
})

describe("verifyXSignature", () => {
  const body = bytesOf(a.body)
  const signature = createHmac("sha256", Buffer.from(secret.slice(6), "base64")).update(body).digest("base64")

  it("accepts base64 of the HMAC over the body", async () => {
    expect(await verifyXSignature({ secrets: [otherSecret, secret], headers: { "X-Signature": signature }, body })).toEqual({ secretIndex: 1 })
  })

  it("refuses another body, another secret, another base64 spelling, and an empty value", async () => {
    const verifyWith = (headers: DeliveryHeaders, secrets = secret, bytes = body) => verifyXSignature({ secrets, headers, body: bytes })
    await expect(verifyWith({ "x-signature": signature }, otherSecret)).rejects.toEqual(refused("signature_mismatch"))
    await expect(verifyWith({ "x-signature": signature }, secret, bytesOf("{}"))).rejects.toEqual(refused("signature_mismatch"))
    await expect(verifyWith({ "x-signature": Buffer.from(signature, "base64").toString("hex") })).rejects.toEqual(refused("signature_mismatch"))
    await expect(verifyWith({ "x-signature": signature.slice(0, -1) })).rejects.toEqual(refused("signature_mismatch"))
    await expect(verifyWith({ "x-signature": `v1,${signature}` })).rejects.toEqual(refused("signature_mismatch"))
    await expect(verifyWith({})).rejects.toEqual(refused("header_missing"))
    await expect(verifyWith({ "x-signature": "A".repeat(10_000) })).rejects.toEqual(refused("header_too_long"))
  })
})
