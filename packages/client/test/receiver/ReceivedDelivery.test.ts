import { describe, expect, it } from "vitest"
import { DeliveryRefused, readDelivery, type RefusalReason, signDelivery } from "../../src/receiver/index.ts"
import { bytesOf, chargeOf, deliveryInformation, deliveryUpdate, eventOf, noticeEvent, otherSecret, pickupBatch, secret, webhookTest } from "../samples.ts"

const events = [eventOf("S1", 1), eventOf("S1", 2)]
const charges = [chargeOf("B1", 1)]
const now = new Date("2026-11-20T14:15:00Z")

describe("readDelivery", () => {
  it("returns the verified content by kind", async () => {
    const read = async (content: Parameters<typeof signDelivery>[0]) => readDelivery({ secrets: secret, now, ...await signDelivery(content) })
    const common = { secrets: secret, deliveryId: "D1", now }
    expect(await read({ ...common, events })).toEqual({ kind: "events", deliveryId: "D1", sentAt: "2026-11-20T14:15:00.000Z", events })
    for (const status of [deliveryUpdate, deliveryInformation]) {
      expect(await read({ ...common, status })).toEqual({ kind: "status", deliveryId: "D1", notification: status })
    }
    expect(await read({ ...common, charges })).toEqual({ kind: "charges", deliveryId: "D1", charges })
    const { pickups } = pickupBatch
    expect(await read({ ...common, pickups })).toEqual({ kind: "pickups", deliveryId: "D1", sentAt: "2026-11-20T14:15:00.000Z", pickups })
    expect(await read({ ...common, notice: noticeEvent })).toEqual({ kind: "notice", deliveryId: "D1", notice: noticeEvent })
    expect(await read({ ...common, body: bytesOf(webhookTest) })).toEqual({ kind: "test", deliveryId: "D1", test: webhookTest })
  })

  it("narrows its type by kind", async () => {
    const delivery = await readDelivery({ secrets: secret, ...await signDelivery({ secrets: secret, events }) })
    const summary = (): string => {
      switch (delivery.kind) {
        case "events":
          return delivery.events.map(({ type }) => type).join()
        case "status":
          return delivery.notification.proNumber
        case "charges":
          return delivery.charges.map(({ pfc }) => pfc.uniqueID).join()
        case "pickups":
          return delivery.pickups.map(({ change }) => change).join()
        case "notice":
          return delivery.notice.area
        case "test":
          return delivery.test.message
      }
    }
    expect(summary()).toBe("IN_TRANSIT,IN_TRANSIT")
  })

  it("takes the parts of a Request, with text or bytes", async () => {
    const signed = await signDelivery({ secrets: secret, events })
    const text = signed.toRequest()
    expect(await readDelivery({ secrets: secret, headers: text.headers, body: await text.text() })).toMatchObject({ kind: "events", deliveryId: signed.deliveryId })
    const bytes = signed.toRequest("https://shop.example/hook")
    expect(await readDelivery({ secrets: secret, headers: bytes.headers, body: await bytes.arrayBuffer() })).toMatchObject({ kind: "events", deliveryId: signed.deliveryId })
  })

  it("takes X-Signature on request, which covers the body only", async () => {
    const signed = await signDelivery({ secrets: [secret, otherSecret], charges, deliveryId: "N1", signature: "x-signature" })
    expect(signed.headers).toEqual({ "content-type": "application/json", "webhook-id": "N1", "x-signature": expect.any(String) })
    expect(await readDelivery({ secrets: secret, signature: "x-signature", ...signed })).toEqual({ kind: "charges", deliveryId: "N1", charges })
    await expect(readDelivery({ secrets: otherSecret, signature: "x-signature", ...signed })).rejects.toMatchObject({ reason: "signature_mismatch" })
    const batch = await signDelivery({ secrets: secret, events, deliveryId: "D1", signature: "x-signature" })
    expect(await readDelivery({ secrets: secret, signature: "x-signature", ...batch, headers: { "x-signature": batch.headers["x-signature"] } })).toMatchObject({ deliveryId: "D1" })
  })

  it("refuses with a reason and the status to answer with", async () => {
    const signed = await signDelivery({ secrets: secret, events, now })
    const broken = await signDelivery({ secrets: secret, body: "{}", now })
    const refusals: ReadonlyArray<readonly [Partial<Parameters<typeof readDelivery>[0]>, RefusalReason, number]> = [
      [{ secrets: otherSecret }, "signature_mismatch", 401],
      [{ body: "{}" }, "signature_mismatch", 401],
      [{ headers: {} }, "header_missing", 401],
      [{ now: new Date(now.getTime() + 301_000) }, "timestamp_too_old", 401],
      [{ signature: "x-signature" }, "header_missing", 401],
      [broken, "batch_malformed", 400]
    ]
    for (const [change, reason, status] of refusals) {
      const failure = await readDelivery({ secrets: secret, now, ...signed, ...change }).catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(DeliveryRefused)
      expect(failure).toMatchObject({ reason, status })
    }
  })

  it("refuses a body that nests too deep, without parsing it", async () => {
    const nested = (levels: number) => JSON.parse("[".repeat(levels) + "]".repeat(levels)) as unknown
    const read = async (body: Uint8Array) => readDelivery({ secrets: secret, ...await signDelivery({ secrets: secret, body }) })
    const batchWith = (attributes: object) => bytesOf({ deliveryId: "D1", sentAt: "2026-11-20T14:15:00Z", events: [{ ...events[0], notes: "\"[{".repeat(1000), attributes }] })
    expect(await read(batchWith({ nested: nested(500) }))).toMatchObject({ kind: "events" })
    await expect(read(batchWith({ nested: nested(600) }))).rejects.toMatchObject({ reason: "batch_malformed", message: "The body nests more than 512 levels deep." })
    await expect(read(new TextEncoder().encode("[".repeat(600)))).rejects.toThrow("levels deep")
  })

  it("returns the content that was verified, even if the buffer changes meanwhile", async () => {
    const signed = await signDelivery({ secrets: secret, status: deliveryUpdate })
    const pending = readDelivery({ secrets: secret, ...signed })
    signed.body.fill(0x20)
    expect(await pending).toMatchObject({ notification: deliveryUpdate })
  })
})

describe("signDelivery", () => {
  it("makes another id each time, and a second attempt with a given one", async () => {
    const [first, other] = [await signDelivery({ secrets: secret, events }), await signDelivery({ secrets: secret, events })]
    expect(first.deliveryId).not.toBe(other.deliveryId)
    const again = await signDelivery({ secrets: secret, body: first.body, deliveryId: first.deliveryId })
    expect(again.headers["webhook-id"]).toBe(first.deliveryId)
    expect(again.body).toEqual(first.body)
  })

  it("signs with every secret during a rotation", async () => {
    const signed = await signDelivery({ secrets: [secret, otherSecret], events })
    for (const secrets of [secret, otherSecret]) expect(await readDelivery({ secrets, ...signed })).toMatchObject({ kind: "events" })
  })

  it("makes a new request each time", async () => {
    const { body, toRequest } = await signDelivery({ secrets: secret, charges })
    for (let time = 0; time < 2; time++) {
      const request = toRequest()
      expect([request.method, request.headers.get("content-type")]).toEqual(["POST", "application/json"])
      expect(new Uint8Array(await request.arrayBuffer())).toEqual(body)
    }
  })

  it("refuses an unusable id or secret", async () => {
    await expect(signDelivery({ secrets: secret, events, deliveryId: "a b" })).rejects.toThrow(TypeError)
    await expect(signDelivery({ secrets: "", events })).rejects.toMatchObject({ name: "WebhookSecretUnusable" })
  })
})
