/** The receiver with everything besides event batches: shipment status, freight charges, pickups, notices and test events. */
import { describe, expect, it, vi } from "vitest"
import {
  DeliveryReceiver,
  type DeliveryReceiverOptions,
  DeliveryRefused,
  type NotificationContext,
  SeenInMemory,
  signDelivery
} from "../../src/receiver/index.ts"
import { batchOf, bytesOf, chargeOf, deliveryInformation, deliveryUpdate, eventOf, noticeEvent, otherSecret, pickupBatch, secret, webhookTest } from "../samples.ts"

const charges = [chargeOf("B1", 1), chargeOf("B2", 4)]

const signed = (value: unknown, deliveryId = "N1", secrets: string | ReadonlyArray<string> = secret) =>
  signDelivery({ secrets, deliveryId, body: bytesOf(value) })
const unsigned = (value: unknown, deliveryId = "N1") =>
  ({ body: bytesOf(value), headers: { "webhook-id": deliveryId, "webhook-timestamp": "1700000000" } })

/** A receiver with all handlers, which record their arguments. */
const recording = (options: Partial<DeliveryReceiverOptions> = {}) => {
  const calls: Array<{ readonly kind: string; readonly content: unknown; readonly context: Partial<NotificationContext> }> = []
  const errors: Array<unknown> = []
  const write = (kind: string) => (content: unknown, context: Partial<NotificationContext>) => {
    calls.push({ kind, content, context })
  }
  const receiver = new DeliveryReceiver({
    secrets: secret,
    seen: new SeenInMemory(),
    onEvents: write("events"),
    onStatus: write("status"),
    onCharges: write("charges"),
    onPickups: write("pickups"),
    onNotice: write("notice"),
    onTest: write("test"),
    onError: (error) => errors.push(error),
    ...options
  })
  const refusal = async (delivery: Parameters<typeof receiver.answer>[0]) => {
    const { body, status } = await receiver.answer(delivery)
    return [status, JSON.parse(body).code, calls.length, errors.length]
  }
  return { receiver, calls, errors, refusal }
}

describe("DeliveryReceiver, of what is not an event batch,", () => {
  const kinds: ReadonlyArray<readonly [string, string, unknown, number]> = [
    ["a delivery update", "status", deliveryUpdate, 1],
    ["a delivery information", "status", deliveryInformation, 1],
    ["freight charges", "charges", charges, 2],
    ["a test event", "test", webhookTest, 1]
  ]
  const alwaysSigned: typeof kinds = [
    ["pickups", "pickups", pickupBatch, 2],
    ["a notice", "notice", noticeEvent, 1]
  ]
  /** What the handler of a kind is given. */
  const givenOf = (content: unknown): unknown => content === pickupBatch ? pickupBatch.pickups : content

  it.each([...kinds, ...alwaysSigned])("passes %s to the handler of its kind, and answers 200", async (_, kind, content) => {
    const { calls, receiver } = recording()
    const { body, headers } = await signed(content)
    const answer = await receiver.handle(new Request("https://receiver.test", { method: "POST", headers, body }))
    expect([answer.status, await answer.text()]).toEqual([200, ""])
    expect(calls).toEqual([{ kind, content: givenOf(content), context: { deliveryId: "N1", signed: true } }])
  })

  it.each([...kinds, ...alwaysSigned])("handles %s once by its delivery id, whatever the attempt", async (_, kind, sample, count) => {
    const { calls, receiver } = recording()
    const of = (deliveryId: string) => sample === pickupBatch ? { ...pickupBatch, deliveryId } : sample
    const content = of("N1")
    const first = await signed(content)
    expect(await receiver.receive(first)).toEqual({ deliveryId: "N1", handled: count, duplicates: 0 })
    const again = await signDelivery({ secrets: secret, deliveryId: "N1", body: first.body, now: new Date(Date.now() + 60_000) })
    expect(await receiver.receive(again)).toEqual({ deliveryId: "N1", handled: 0, duplicates: count })
    expect((await receiver.answer(again)).status).toBe(200)
    expect(await receiver.receive(await signed(of("N2"), "N2"))).toEqual({ deliveryId: "N2", handled: count, duplicates: 0 })
    expect(calls.map((call) => [call.kind, call.context.deliveryId])).toEqual([[kind, "N1"], [kind, "N2"]])
  })

  it("distinguishes all kinds at one address", async () => {
    const { calls, receiver } = recording()
    for (const [index, value] of [batchOf("D1", [eventOf("S1", 1)]), deliveryUpdate, charges, { ...pickupBatch, deliveryId: "P1" }, noticeEvent, webhookTest, deliveryInformation].entries()) {
      await receiver.receive(await signed(value, `N${index}`))
    }
    expect(calls.map(({ kind }) => kind)).toEqual(["events", "status", "charges", "pickups", "notice", "test", "status"])
  })

  it("does not confuse equal ids of different kinds", async () => {
    const { calls, receiver } = recording()
    await receiver.receive(await signed(batchOf("X", [eventOf("S1", 1)]), "X"))
    await receiver.receive(await signed(deliveryUpdate, "X"))
    expect(calls.map(({ kind }) => kind)).toEqual(["events", "status"])
  })

  it("needs a handler, and refuses deliveries without one with 400", async () => {
    expect(() => new DeliveryReceiver({ secrets: secret, seen: new SeenInMemory() })).toThrow("Give one of onEvents, onStatus, onCharges, onPickups, onNotice.")
    const contents = { onEvents: batchOf("D1", [eventOf("S1", 1)]), onStatus: deliveryUpdate, onCharges: charges, onPickups: pickupBatch, onNotice: noticeEvent }
    const names = Object.keys(contents) as ReadonlyArray<keyof typeof contents>
    for (const name of names) {
      const { calls, receiver, refusal } = recording({ [name]: undefined })
      expect(await refusal(await signed(contents[name]))).toEqual([400, "no_handler", 0, 0])
      expect(JSON.parse((await receiver.answer(await signed(contents[name]))).body).detail).toContain(`it has no ${name}.`)
      // It is not marked as seen: the handler may exist after the next start.
      for (const other of names) if (other !== name) await receiver.receive(await signed(contents[other], `N-${other}`))
      expect(calls).toHaveLength(4)
    }
  })

  it("accepts a test event without a handler for it", async () => {
    const { receiver } = recording({ onTest: undefined })
    expect((await receiver.answer(await signed(webhookTest))).status).toBe(200)
  })

  it.each([...kinds, ...alwaysSigned])("waits for the handler of %s, and accepts a retry when it fails", async (_, kind, content, count) => {
    let fail = true
    let done = false
    const handler = async () => {
      await new Promise((resolve) => setTimeout(resolve, 2))
      if (fail) throw new Error("database password is hunter2")
      done = true
    }
    const { errors, receiver } = recording({ [`on${kind[0]!.toUpperCase()}${kind.slice(1)}`]: handler })
    const answer = await receiver.answer(await signed(content))
    expect([answer.status, answer.body.includes("hunter2"), errors]).toEqual([500, false, [new Error("database password is hunter2")]])
    fail = false
    expect(await receiver.receive(await signed(content))).toEqual({ deliveryId: "N1", handled: count, duplicates: 0 })
    expect(done).toBe(true)
  })

  it("answers 500 also when the handler throws a DeliveryRefused", async () => {
    const refusal = new DeliveryRefused("signature_mismatch", "of something else")
    const { errors, receiver } = recording({ onStatus: () => Promise.reject(refusal) })
    expect((await receiver.answer(await signed(deliveryUpdate))).status).toBe(500)
    expect(errors).toEqual([expect.objectContaining({ cause: refusal })])
  })

  it("answers 503 while the same delivery is in progress, and accepts another one", async () => {
    const gates: Array<() => void> = []
    const { receiver } = recording({ onStatus: () => new Promise<void>((resolve) => gates.push(resolve)) })
    const begun = (count: number) => vi.waitFor(() => expect(gates).toHaveLength(count), { interval: 1 })
    const first = receiver.answer(await signed(deliveryUpdate))
    await begun(1)
    const again = await receiver.answer(await signed(deliveryUpdate))
    expect([again.status, again.headers["retry-after"]]).toEqual([503, "1"])
    const other = receiver.answer(await signed(deliveryUpdate, "N2"))
    await begun(2)
    for (const open of gates) open()
    expect([(await first).status, (await other).status]).toEqual([200, 200])
    expect((await receiver.answer(await signed(deliveryUpdate))).status).toBe(200)
    expect(gates).toHaveLength(2)
  })

  describe("refuses", () => {
    it.each([...kinds, ...alwaysSigned])("with 401 %s that is unsigned, signed by another key, changed, or old", async (_, kind, content) => {
      const { refusal } = recording()
      const good = await signed(content)
      const { headers: old } = await signDelivery({ secrets: secret, deliveryId: "N1", body: good.body, now: new Date(Date.now() - 600_000) })
      expect(await refusal(unsigned(content))).toEqual([401, "header_missing", 0, 0])
      expect(await refusal(await signed(content, "N1", otherSecret))).toEqual([401, "signature_mismatch", 0, 0])
      expect(await refusal({ headers: good.headers, body: bytesOf(kind === "status" ? charges : deliveryUpdate) })).toEqual([401, "signature_mismatch", 0, 0])
      expect(await refusal({ headers: { ...good.headers, "webhook-id": "N2" }, body: good.body })).toEqual([401, "signature_mismatch", 0, 0])
      expect(await refusal({ headers: old, body: good.body })).toEqual([401, "timestamp_too_old", 0, 0])
    })

    const malformed: ReadonlyArray<readonly [string, unknown, string]> = [
      ["an update without proNumber", { ...deliveryUpdate, proNumber: undefined }, "notification_malformed"],
      ["an update without reference numbers", { ...deliveryUpdate, shipmentReferenceNumbers: undefined }, "notification_malformed"],
      ["an information without a message", { ...deliveryInformation, deliveryInformation_messages: null }, "notification_malformed"],
      ["charges without uniqueID", [charges[0], { ...charges[1], pfc: { header: { function: "PFC1" } } }], "charges_malformed"],
      ["charges without a version", [{ ...charges[0], pfc: { uniqueID: "B1" } }], "charges_malformed"],
      ["charges with null among them", [charges[0], null], "charges_malformed"],
      ["pickups without an id", { ...pickupBatch, pickups: [{ ...pickupBatch.pickups[0], pickupId: undefined }] }, "pickups_malformed"],
      ["pickups without a request", { ...pickupBatch, pickups: [{ ...pickupBatch.pickups[0], request: [] }] }, "pickups_malformed"],
      ["no pickups", { ...pickupBatch, pickups: [] }, "pickups_malformed"],
      ["a notice without its id", { ...noticeEvent, noticeId: "" }, "notice_malformed"],
      ["a test event without a subscription", { ...webhookTest, subscriptionId: 7 }, "notice_malformed"],
      ["one charge without a list", charges[0], "batch_malformed"],
      ["an empty list", [], "batch_malformed"],
      ["an empty object", {}, "batch_malformed"],
      ["an object that only inherits its marks", "{\"__proto__\":{\"shipmentMilestoneStatus\":\"Delivered\"}}", "batch_malformed"]
    ]
    it.each(malformed)("with 400 a signed body of no known kind: %s", async (_, value, code) => {
      const { refusal } = recording()
      expect(await refusal(await signed(value))).toEqual([400, code, 0, 0])
    })
  })

  describe("without a signature", () => {
    const lenient = (options: Partial<DeliveryReceiverOptions> = {}) => recording({ unsigned: "accept", ...options })

    it.each(kinds)("takes %s when configured, once, and marks it as unsigned", async (_, kind, content, count) => {
      for (const secrets of [undefined, secret, () => secret]) {
        const { calls, receiver } = lenient({ secrets })
        expect(await receiver.receive(unsigned(content))).toEqual({ deliveryId: "N1", handled: count, duplicates: 0 })
        expect(await receiver.receive(unsigned(content))).toEqual({ deliveryId: "N1", handled: 0, duplicates: count })
        expect(calls).toEqual([{ kind, content, context: { deliveryId: "N1", signed: false } }])
      }
    })

    it.each(kinds)("does not take %s unless configured", async (_, __, content) => {
      for (const unsignedOption of [undefined, "refuse"] as const) {
        const { refusal } = recording({ unsigned: unsignedOption })
        expect(await refusal(unsigned(content))).toEqual([401, "header_missing", 0, 0])
      }
    })

    it("does not start without a secret unless configured", () => {
      for (const options of [{}, { unsigned: "refuse" }] as const) expect(() => recording({ secrets: undefined, ...options })).toThrow("No webhook secret")
      expect(() => lenient({ secrets: undefined })).not.toThrow()
      for (const secrets of ["", "whsec_", []]) expect(() => lenient({ secrets })).toThrow("ebhook secret")
    })

    it.each<typeof kinds[number]>([["event batches", "events", batchOf("D1", [eventOf("S1", 1)]), 1], ...alwaysSigned])("never takes %s, which are always signed", async (_, kind, content) => {
      for (const secrets of [undefined, secret]) expect(await lenient({ secrets }).refusal(unsigned(content))).toEqual([401, "header_missing", 0, 0])
      const { calls, receiver } = lenient()
      await receiver.receive(await signed(content))
      expect(calls.map((call) => call.kind)).toEqual([kind])
    })

    it("still refuses an invalid signature, even an empty one", async () => {
      const { refusal } = lenient()
      const { body, headers } = await signed(deliveryUpdate)
      expect(await refusal(await signed(deliveryUpdate, "N1", otherSecret))).toEqual([401, "signature_mismatch", 0, 0])
      expect(await refusal({ body: bytesOf(deliveryInformation), headers })).toEqual([401, "signature_mismatch", 0, 0])
      expect(await refusal({ body, headers: { ...headers, "webhook-signature": "" } })).toEqual([401, "header_missing", 0, 0])
      expect(await refusal({ body, headers: { ...headers, "webhook-signature": "v9,x" } })).toEqual([401, "no_known_signature", 0, 0])
    })

    it("accepts deliveries before and after a secret is registered, whichever side knows it first", async () => {
      const before = lenient({ secrets: undefined })
      await before.receiver.receive(await signed(deliveryUpdate))
      expect(before.calls.map(({ context }) => context.signed)).toEqual([false])
      const after = lenient()
      await after.receiver.receive(unsigned(deliveryUpdate, "N1"))
      await after.receiver.receive(await signed(deliveryUpdate, "N2"))
      expect(after.calls.map(({ context }) => context.signed)).toEqual([false, true])
    })

    it("cannot mark a signed delivery as handled", async () => {
      const { calls, receiver } = lenient()
      await receiver.receive(unsigned({ ...deliveryUpdate, notificationMessage: "made up" }, "N1"))
      expect(await receiver.receive(await signed(deliveryUpdate, "N1"))).toEqual({ deliveryId: "N1", handled: 1, duplicates: 0 })
      expect(calls.map(({ context }) => context)).toEqual([{ deliveryId: "N1", signed: false }, { deliveryId: "N1", signed: true }])
    })

    it.each([
      [{}, "header_missing"],
      [{ "webhook-id": "" }, "header_missing"],
      [{ "webhook-id": ["a", "b"] }, "header_repeated"],
      [{ "webhook-id": "x".repeat(257) }, "header_too_long"],
      [{ "webhook-id": "a.b" }, "id_malformed"],
      [{ "webhook-id": "a b" }, "id_malformed"]
    ])("requires a webhook-id, and refuses %j", async (headers, code) => {
      const { refusal } = lenient({ secrets: undefined })
      expect(await refusal({ headers, body: bytesOf(deliveryUpdate) })).toEqual([401, code, 0, 0])
    })

    it("refuses bodies of no known kind", async () => {
      expect(await lenient().refusal(unsigned("{"))).toEqual([400, "batch_malformed", 0, 0])
      expect(await lenient().refusal(unsigned([{ pfc: 1 }]))).toEqual([400, "charges_malformed", 0, 0])
    })
  })

  it("takes pickups after a copy of another delivery with their id in its header, which x-signature does not cover", async () => {
    const { calls, receiver } = recording({ signature: "x-signature" })
    const bytes = (content: unknown) => new TextEncoder().encode(JSON.stringify(content))
    await receiver.receive(await signDelivery({ secrets: secret, deliveryId: pickupBatch.deliveryId, body: bytes(webhookTest), signature: "x-signature" }))
    const own = await signDelivery({ secrets: secret, deliveryId: pickupBatch.deliveryId, body: bytes(pickupBatch), signature: "x-signature" })
    await receiver.receive(own)
    expect(await receiver.receive(own)).toMatchObject({ deliveryId: pickupBatch.deliveryId, handled: 0 })
    expect(calls.map(({ kind }) => kind)).toEqual(["test", "pickups"])
  })

  it("takes the older signature when configured, and still deduplicates by webhook-id", async () => {
    const body = bytesOf(charges)
    const older = await signDelivery({ secrets: secret, deliveryId: "N1", body, signature: "x-signature" })
    expect((await recording().receiver.answer(older)).status).toBe(401)
    const { calls, receiver, refusal } = recording({ signature: "x-signature" })
    for (let attempt = 0; attempt < 2; attempt++) await receiver.receive(older)
    expect(calls).toEqual([{ kind: "charges", content: charges, context: { deliveryId: "N1", signed: true } }])
    expect(await refusal({ body, headers: { "x-signature": older.headers["x-signature"] } })).toEqual([401, "header_missing", 1, 0])
    const lenient = recording({ signature: "x-signature", unsigned: "accept" })
    await lenient.receiver.receive(unsigned(charges))
    expect(lenient.calls.map(({ context }) => context.signed)).toEqual([false])
  })

  it("separates senders that share a store, and shares it between processes of one sender", async () => {
    const seen = new SeenInMemory()
    const delivery = await signed(deliveryUpdate)
    for (const source of ["carrier-a", "carrier-b"]) {
      expect((await recording({ seen, source }).receiver.receive(delivery)).handled).toBe(1)
      expect((await recording({ seen, source }).receiver.receive(delivery)).handled).toBe(0)
    }
  })

  it("does not use the sequence store", async () => {
    const sequences = { arrived: () => Promise.reject(new Error("asked")), add: () => Promise.reject(new Error("asked")) }
    const { errors, receiver } = recording({ sequences })
    for (const [index, value] of [deliveryUpdate, charges].entries()) expect((await receiver.answer(await signed(value, `N${index}`))).status).toBe(200)
    expect(errors).toEqual([])
  })
})
