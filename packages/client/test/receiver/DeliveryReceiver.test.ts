import { describe, expect, it, onTestFinished, vi } from "vitest"
import {
  type DeliveryContext,
  DeliveryReceiver,
  type DeliveryReceiverOptions,
  DeliveryRefused,
  SeenInMemory,
  type SeenStore,
  signDelivery
} from "../../src/receiver/index.ts"
import type { TransitEvent } from "../../src/transit-events/index.ts"
import { batchOf, bytesOf, eventOf, otherSecret, secret } from "../samples.ts"

const signed = (body: Uint8Array, secrets: string | ReadonlyArray<string> = secret) => signDelivery({ secrets, deliveryId: "webhook-id", body })
const requestOf = async (value: unknown) => (await signed(value instanceof Uint8Array ? value : bytesOf(value))).toRequest()

/** A receiver that records the arguments of its handler. */
const recording = (options: Partial<DeliveryReceiverOptions> = {}) => {
  const calls: Array<{ readonly events: ReadonlyArray<TransitEvent>; readonly context: DeliveryContext }> = []
  const errors: Array<unknown> = []
  const receiver = new DeliveryReceiver({
    secrets: secret,
    seen: new SeenInMemory(),
    onEvents: (events, context) => {
      calls.push({ events, context })
    },
    onError: (error) => errors.push(error),
    ...options
  })
  return { receiver, calls, errors, ids: () => calls.flatMap(({ events }) => events.map(({ eventId }) => eventId)) }
}

describe("DeliveryReceiver", () => {
  it("passes a signed batch to the handler and answers 200", async () => {
    const { calls, receiver } = recording()
    const events = [eventOf("S1", 1, { type: "SOMETHING_NEW", attributes: { terminalCode: "OMA" } }), eventOf("S2", 4)]
    const answer = await receiver.handle(await requestOf(batchOf("D1", events)))
    expect([answer.status, await answer.text()]).toEqual([200, ""])
    expect(calls).toEqual([{
      events,
      context: {
        deliveryId: "D1",
        sentAt: "2026-11-20T14:15:00.000Z",
        duplicates: [],
        order: { missing: [], late: [], outOfOrder: [], repeated: [] }
      }
    }])
  })

  it("answers 202 when configured", async () => {
    const { receiver } = recording({ acknowledgeWith: 202 })
    expect((await receiver.handle(await requestOf(batchOf("D1", [eventOf("S1", 1)])))).status).toBe(202)
  })

  it("waits for the handler before it answers", async () => {
    let done = false
    const { receiver } = recording({
      onEvents: async () => {
        await new Promise((resolve) => setTimeout(resolve, 5))
        done = true
      }
    })
    await receiver.handle(await requestOf(batchOf("D1", [eventOf("S1", 1)])))
    expect(done).toBe(true)
  })

  it("acknowledges a repeated delivery without handling it again", async () => {
    const { calls, receiver } = recording()
    const batch = batchOf("D1", [eventOf("S1", 1)])
    for (let attempt = 0; attempt < 3; attempt++) expect((await receiver.handle(await requestOf(batch))).status).toBe(200)
    expect(calls).toHaveLength(1)
    expect(await receiver.receive(await signed(bytesOf(batch)))).toEqual({ deliveryId: "D1", handled: 0, duplicates: 1 })
  })

  it("passes on only new events of a delivery that overlaps with earlier ones or repeats itself", async () => {
    const { calls, ids, receiver } = recording()
    await receiver.receive(await signed(bytesOf(batchOf("D1", [eventOf("S1", 1), eventOf("S1", 2)]))))
    const receipt = await receiver.receive(await signed(bytesOf(batchOf("D2", [eventOf("S1", 2), eventOf("S1", 3), eventOf("S1", 3)]))))
    expect(receipt).toEqual({ deliveryId: "D2", handled: 1, duplicates: 2 })
    expect(ids()).toEqual(["S1-1", "S1-2", "S1-3"])
    expect(calls[1]!.context.duplicates.map(({ eventId }) => eventId)).toEqual(["S1-2", "S1-3"])
  })

  it("passes on events of different shipments that have the same id", async () => {
    const { calls, receiver } = recording()
    const events = [eventOf("S1", 1, { eventId: "same" }), eventOf("S2", 1, { eventId: "same" })]
    await receiver.receive(await signed(bytesOf(batchOf("D1", events))))
    expect(await receiver.receive(await signed(bytesOf(batchOf("D2", [eventOf("S3", 1, { eventId: "same" }), ...events]))))).toEqual({ deliveryId: "D2", handled: 1, duplicates: 2 })
    expect(calls.map(({ events }) => events.map(({ shipment }) => shipment.shipmentId))).toEqual([["S1", "S2"], ["S3"]])
  })

  it("does not call the handler for a replay of known events", async () => {
    const { calls, receiver } = recording()
    await receiver.receive(await signed(bytesOf(batchOf("D1", [eventOf("S1", 1)]))))
    expect(await receiver.receive(await signed(bytesOf(batchOf("D9", [eventOf("S1", 1)]))))).toEqual({ deliveryId: "D9", handled: 0, duplicates: 1 })
    expect(calls).toHaveLength(1)
  })

  it("accepts ids that are also names of object members", async () => {
    const { ids, receiver } = recording()
    const events = ["__proto__", "constructor", "toString"].map((eventId, index) => eventOf("__proto__", index, { eventId }))
    for (let attempt = 0; attempt < 2; attempt++) await receiver.receive(await signed(bytesOf(batchOf("__proto__", events))))
    expect(ids()).toEqual(["__proto__", "constructor", "toString"])
  })

  describe("when the handler fails", () => {
    it("answers 500, reports the error only on this side, and passes the events again", async () => {
      let fail = true
      const { errors, receiver } = recording({
        onEvents: () => {
          if (fail) throw new Error("database password is hunter2")
        }
      })
      const batch = batchOf("D1", [eventOf("S1", 1), eventOf("S1", 2)])
      const answer = await receiver.handle(await requestOf(batch))
      expect([answer.status, answer.headers.get("content-type")]).toEqual([500, "application/problem+json"])
      expect(await answer.text()).not.toContain("hunter2")
      expect(errors).toEqual([new Error("database password is hunter2")])
      fail = false
      expect(await receiver.receive(await signed(bytesOf(batch)))).toEqual({ deliveryId: "D1", handled: 2, duplicates: 0 })
    })

    it("answers 500 also when the handler throws a DeliveryRefused", async () => {
      const refusal = new DeliveryRefused("signature_mismatch", "of something else")
      const { errors, receiver } = recording({ onEvents: () => Promise.reject(refusal) })
      expect((await receiver.handle(await requestOf(batchOf("D1", [eventOf("S1", 1)])))).status).toBe(500)
      expect(errors).toEqual([expect.objectContaining({ cause: refusal })])
    })

    it("writes to the console without onError", async () => {
      const written = vi.spyOn(console, "error").mockImplementation(() => {})
      onTestFinished(() => void written.mockRestore())
      const receiver = new DeliveryReceiver({ secrets: secret, seen: new SeenInMemory(), onEvents: () => Promise.reject(new Error("no")) })
      expect((await receiver.handle(await requestOf(batchOf("D1", [eventOf("S1", 1)])))).status).toBe(500)
      expect(written).toHaveBeenCalledWith(new Error("no"))
    })

    it("still answers when onError and the store fail too", async () => {
      const seen: SeenStore = {
        claim: async (ids) => ids.map(() => "claimed" as const),
        markSeen: async () => {},
        release: async () => {
          throw new Error("store down")
        }
      }
      const { receiver } = recording({
        seen,
        onEvents: () => Promise.reject(new Error("no")),
        onError: () => {
          throw new Error("listener")
        }
      })
      expect((await receiver.handle(await requestOf(batchOf("D1", [eventOf("S1", 1)])))).status).toBe(500)
    })
  })

  it("answers 500 when the handled ids cannot be stored", async () => {
    class Forgetful extends SeenInMemory {
      override async markSeen(): Promise<void> {
        throw new Error("store down")
      }
    }
    const { errors, receiver } = recording({ seen: new Forgetful() })
    expect((await receiver.handle(await requestOf(batchOf("D1", [eventOf("S1", 1)])))).status).toBe(500)
    expect(errors).toEqual([new Error("store down")])
  })

  it("acknowledges when only the sequence numbers cannot be stored", async () => {
    const sequences = { arrived: async () => new Map(), add: () => Promise.reject(new Error("store down")) }
    const { errors, receiver } = recording({ sequences })
    expect((await receiver.handle(await requestOf(batchOf("D1", [eventOf("S1", 1)])))).status).toBe(200)
    expect(errors).toEqual([new Error("store down")])
  })

  describe("while a delivery is in progress", () => {
    const held = () => {
      const handled: Array<string> = []
      const gates: Array<() => void> = []
      const clock = { now: 0 }
      const { receiver } = recording({
        seen: new SeenInMemory({ now: () => clock.now }),
        claimSeconds: 60,
        onEvents: async (events) => {
          await new Promise<void>((resolve) => gates.push(resolve))
          handled.push(...events.map(({ eventId }) => eventId))
        }
      })
      const begun = (count: number) => vi.waitFor(() => expect(gates).toHaveLength(count), { interval: 1 })
      return { receiver, handled, gates, clock, begun }
    }

    it("answers its second attempt, and others with its events, 503 with Retry-After, and handles each event once", async () => {
      const { begun, gates, handled, receiver } = held()
      const first = receiver.handle(await requestOf(batchOf("D1", [eventOf("S1", 1), eventOf("S1", 2)])))
      await begun(1)
      const again = await receiver.handle(await requestOf(batchOf("D1", [eventOf("S1", 1), eventOf("S1", 2)])))
      expect([again.status, again.headers.get("retry-after")]).toEqual([503, "1"])
      expect(await again.json()).toMatchObject({ status: 503, code: "in_progress" })
      const overlapping = await requestOf(batchOf("D2", [eventOf("S1", 2), eventOf("S1", 3)]))
      expect((await receiver.handle(overlapping.clone())).status).toBe(503)
      gates[0]!()
      expect((await first).status).toBe(200)
      const later = receiver.handle(overlapping)
      await begun(2)
      gates[1]!()
      expect((await later).status).toBe(200)
      expect(handled).toEqual(["S1-1", "S1-2", "S1-3"])
    })

    it("accepts another delivery at the same time", async () => {
      const { begun, gates, handled, receiver } = held()
      const both = [receiver.handle(await requestOf(batchOf("D1", [eventOf("S1", 1)]))), receiver.handle(await requestOf(batchOf("D2", [eventOf("S2", 1)])))]
      await begun(2)
      gates.forEach((open) => open())
      expect((await Promise.all(both)).map(({ status }) => status)).toEqual([200, 200])
      expect(handled.sort()).toEqual(["S1-1", "S2-1"])
    })

    it("passes it to the next attempt when the first never ends", async () => {
      const { begun, clock, gates, handled, receiver } = held()
      const batch = batchOf("D1", [eventOf("S1", 1)])
      void receiver.handle(await requestOf(batch))
      await begun(1)
      clock.now = 59_999
      expect((await receiver.handle(await requestOf(batch))).status).toBe(503)
      clock.now = 60_000
      const second = receiver.handle(await requestOf(batch))
      await begun(2)
      gates[1]!()
      expect((await second).status).toBe(200)
      expect(handled).toEqual(["S1-1"])
    })
  })

  describe("refuses", () => {
    const refusal = async (request: Request, options: Partial<DeliveryReceiverOptions> = {}) => {
      const { calls, errors, receiver } = recording(options)
      const answer = await receiver.handle(request)
      const body = await answer.json() as { readonly status: number; readonly code: string; readonly detail: string }
      expect(calls).toEqual([])
      expect(body.status).toBe(answer.status)
      return { answer, body, errors }
    }

    it("with 401 a delivery that is unsigned, signed by another key, changed, or old", async () => {
      const batch = bytesOf(batchOf("D1", [eventOf("S1", 1)]))
      const good = await signed(batch)
      const post = (headers: HeadersInit, body: Uint8Array<ArrayBuffer> = batch) => new Request("https://r.test", { method: "POST", headers, body })
      const cases: ReadonlyArray<readonly [Request, string]> = [
        [post({}), "header_missing"],
        [post((await signed(batch, otherSecret)).headers), "signature_mismatch"],
        [post(good.headers, bytesOf(batchOf("D1", [eventOf("S1", 2)]))), "signature_mismatch"],
        [post((await signDelivery({ secrets: secret, deliveryId: "d", body: batch, now: new Date(Date.now() - 600_000) })).headers), "timestamp_too_old"],
        [post((await signDelivery({ secrets: secret, deliveryId: "d", body: batch, now: new Date(Date.now() + 600_000) })).headers), "timestamp_in_future"]
      ]
      for (const [request, code] of cases) {
        const { answer, body, errors } = await refusal(request)
        expect([answer.status, body.code, errors]).toEqual([401, code, []])
      }
    })

    it("with 401 an invalid signature before it parses the body", async () => {
      const { body } = await refusal(new Request("https://r.test", { method: "POST", headers: (await signed(bytesOf("{}"))).headers, body: "no json" }))
      expect(body.code).toBe("signature_mismatch")
    })

    const event = eventOf("S1", 1)
    const malformed: ReadonlyArray<readonly [string, unknown]> = [
      ["no JSON", "{"],
      ["nothing", new Uint8Array()],
      ["no UTF-8", Uint8Array.of(0x22, 0xff, 0x22)],
      ["null", null],
      ["a list", [batchOf("D", [event])]],
      ["no deliveryId", { ...batchOf("D", [event]), deliveryId: undefined }],
      ["an empty deliveryId", batchOf("", [event])],
      ["an endless deliveryId", batchOf("x".repeat(1001), [event])],
      ["no sentAt", { ...batchOf("D", [event]), sentAt: undefined }],
      ["no events", { ...batchOf("D", [event]), events: undefined }],
      ["an empty list of events", batchOf("D", [])],
      ["events as an object", { ...batchOf("D", [event]), events: { length: 1, 0: event } }],
      ["null as event", { ...batchOf("D", [event]), events: [event, null] }],
      ["a number as eventId", { ...batchOf("D", [event]), events: [{ ...event, eventId: 1 }] }],
      ["no type", { ...batchOf("D", [event]), events: [{ ...event, type: undefined }] }],
      ["no shipment", { ...batchOf("D", [event]), events: [{ ...event, shipment: undefined }] }],
      ["no shipmentId", { ...batchOf("D", [event]), events: [{ ...event, shipment: {} }] }],
      ...[-1, 1.5, "1", 2 ** 53, null].map((sequence) => [`${JSON.stringify(sequence)} as sequence`, { ...batchOf("D", [event]), events: [{ ...event, sequence }] }] as const)
    ]
    it.each(malformed)("with 400 a signed body that is not a batch: %s", async (_, value) => {
      const { answer, body, errors } = await refusal(await requestOf(value))
      expect([answer.status, body.code, errors]).toEqual([400, "batch_malformed", []])
    })

    it("an invalid batch and names the location of the error", async () => {
      const { body } = await refusal(await requestOf({ ...batchOf("D", []), events: [event, { ...event, sequence: -1 }] }))
      expect(body.detail).toBe("/events/1/sequence is not an integer from 0.")
    })

    it("with 413 a body whose Content-Length is too large, without reading it", async () => {
      let pulled = 0
      const body = new ReadableStream({ pull: (controller) => void (pulled++, controller.enqueue(new Uint8Array(1000))) }, { highWaterMark: 0 })
      const request = new Request("https://r.test", { method: "POST", headers: { "content-length": "1000000" }, body, duplex: "half" } as RequestInit)
      expect((await refusal(request, { mostBytes: 9_999 })).answer.status).toBe(413)
      expect(pulled).toBe(0)
    })

    it("with 413 a body as soon as it exceeds the limit", async () => {
      let pulled = 0
      let cancelled = false
      const body = new ReadableStream({
        pull: (controller) => void (pulled++, controller.enqueue(new Uint8Array(1000))),
        cancel: () => {
          cancelled = true
        }
      }, { highWaterMark: 0 })
      const request = new Request("https://r.test", { method: "POST", headers: { "content-length": "5" }, body, duplex: "half" } as RequestInit)
      const { answer, body: problem } = await refusal(request, { mostBytes: 9_999 })
      expect([answer.status, problem.code]).toEqual([413, "body_too_large"])
      expect([pulled, cancelled]).toEqual([10, true])
    })

    it("no body of exactly the largest size, in any chunks", async () => {
      const bytes = bytesOf(batchOf("D1", [eventOf("S1", 1)]))
      const body = new ReadableStream({
        start: (controller) => {
          for (const byte of bytes) controller.enqueue(Uint8Array.of(byte))
          controller.close()
        }
      })
      const { receiver } = recording({ mostBytes: bytes.length })
      const { headers } = await signed(bytes)
      const request = new Request("https://r.test", { method: "POST", headers, body, duplex: "half" } as RequestInit)
      expect((await receiver.handle(request)).status).toBe(200)
    })

    it("with 413 bytes or text above the limit in bytes", async () => {
      const { receiver } = recording({ mostBytes: 10 })
      const { body, headers } = await signed(bytesOf("€€€€"))
      for (const given of [body, "€€€€", "x".repeat(11)]) expect((await receiver.answer({ headers, body: given })).status).toBe(413)
    })

    it("with 400 a body that breaks off", async () => {
      const body = new ReadableStream({ pull: (controller) => controller.error(new Error("connection reset")) })
      const { headers } = await signed(bytesOf("{}"))
      const request = new Request("https://r.test", { method: "POST", headers, body, duplex: "half" } as RequestInit)
      const { answer, body: problem, errors } = await refusal(request)
      expect([answer.status, problem.code, errors]).toEqual([400, "body_incomplete", []])
    })

    it("with 405 other methods than POST", async () => {
      const { answer } = await refusal(new Request("https://r.test"))
      expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST"])
    })
  })

  describe("when the body was already read", () => {
    it("answers 500 and reports what to do, on both sides", async () => {
      const { errors, receiver } = recording()
      const request = await requestOf(batchOf("D1", [eventOf("S1", 1)]))
      await request.json()
      const answer = await receiver.handle(request)
      const fix = expect.stringContaining("before any middleware that parses bodies")
      expect([answer.status, await answer.json()]).toEqual([500, expect.objectContaining({ code: "raw_body_needed", detail: fix })])
      expect(errors).toEqual([expect.objectContaining({ name: "RawBodyNeeded", message: fix })])
    })

    it("notices also that a reader is active", async () => {
      const { receiver } = recording()
      const request = await requestOf(batchOf("D1", [eventOf("S1", 1)]))
      request.body!.getReader()
      expect((await receiver.handle(request)).status).toBe(500)
    })

    it("does not take a parsed object for bytes", async () => {
      const { errors, receiver } = recording()
      const batch = batchOf("D1", [eventOf("S1", 1)])
      const { headers } = await signed(bytesOf(batch))
      for (const body of [batch, [], undefined]) {
        const answer = await receiver.answer({ headers, body: body as unknown as Uint8Array })
        expect([answer.status, JSON.parse(answer.body)]).toEqual([500, expect.objectContaining({ detail: expect.stringContaining("express.raw") })])
      }
      expect(errors).toHaveLength(3)
    })
  })

  it("accepts bytes or text and Node's headers, and answers without a Response", async () => {
    const { body, headers } = await signed(bytesOf(batchOf("D1", [eventOf("S1", 1)])))
    for (const given of [Buffer.from(body), body.buffer, new TextDecoder().decode(body)]) {
      const { ids, receiver } = recording()
      expect(await receiver.answer({ headers, body: given })).toEqual({ status: 200, headers: {}, body: "" })
      expect(ids()).toEqual(["S1-1"])
    }
  })

  it("is not affected by a buffer that is reused during verification", async () => {
    const { ids, receiver } = recording()
    const { body, headers } = await signed(bytesOf(batchOf("D1", [eventOf("S1", 1)])))
    const pending = receiver.answer({ headers, body })
    body.set(bytesOf(batchOf("D1", [eventOf("S1", 2)])))
    expect((await pending).status).toBe(200)
    expect(ids()).toEqual(["S1-1"])
  })

  it("calls a secrets function for each delivery", async () => {
    const current = [secret]
    const { receiver } = recording({ secrets: async () => current })
    const batch = bytesOf(batchOf("D1", [eventOf("S1", 1)]))
    expect((await receiver.answer(await signed(batch, otherSecret))).status).toBe(401)
    current.unshift(otherSecret)
    expect((await receiver.answer(await signed(batch, otherSecret))).status).toBe(200)
  })

  it("does not start with an invalid secret", () => {
    for (const secrets of ["", "whsec_", []]) expect(() => recording({ secrets })).toThrow("ebhook secret")
  })

  it.each<readonly [object, string]>([
    [{ onEvent: () => {} }, "DeliveryReceiver has no option onEvent. It has secrets, seen, onEvents,"],
    [{ onEvents: "x" }, "onEvents of DeliveryReceiver is a function, and got a value of type string."],
    [{ unsigned: true }, "unsigned of DeliveryReceiver is \"refuse\" or \"accept\", and got a value of type boolean."],
    [{ signature: "hmac" }, "signature of DeliveryReceiver is \"standard-webhooks\" or \"x-signature\", and got a value of type string."],
    [{ acknowledgeWith: 204 }, "acknowledgeWith of DeliveryReceiver is 200 or 202, and got 204."],
    [{ mostBytes: NaN }, "mostBytes of DeliveryReceiver is a number above 0, and got NaN."],
    [{ toleranceSeconds: null }, "toleranceSeconds of DeliveryReceiver is a number of seconds from 0, and got null."],
    [{ toleranceSeconds: Infinity }, "toleranceSeconds of DeliveryReceiver is a number of seconds from 0, and got Infinity."],
    [{ claimSeconds: -1 }, "claimSeconds of DeliveryReceiver is a number above 0, and got -1."]
  ])("refuses %j", (options, message) => {
    expect(() => recording(options)).toThrow(message)
  })

  it("does not start without a choice of where ids are remembered", () => {
    for (const seen of [undefined, null, "memory"]) {
      expect(() => new DeliveryReceiver({ secrets: secret, seen, onEvents: () => {} } as unknown as DeliveryReceiverOptions)).toThrow("Give seen: new SeenInMemory()")
    }
  })

  it("accepts the older signature only when configured", async () => {
    const body = bytesOf(batchOf("D1", [eventOf("S1", 1)]))
    const older = await signDelivery({ secrets: secret, body, signature: "x-signature" })
    expect((await recording().receiver.answer(older)).status).toBe(401)
    expect((await recording({ signature: "x-signature" }).receiver.answer(older)).status).toBe(200)
    expect((await recording({ signature: "x-signature" }).receiver.answer(await signed(body))).status).toBe(401)
  })

  it("separates senders that share a store", async () => {
    const seen = new SeenInMemory()
    const batch = await signed(bytesOf(batchOf("D1", [eventOf("S1", 1)])))
    for (const source of ["carrier-a", "carrier-b", undefined]) {
      const { ids, receiver } = recording({ seen, source })
      await receiver.receive(batch)
      expect(ids()).toEqual(["S1-1"])
    }
  })

  describe("reports", () => {
    const report = async (options: Partial<DeliveryReceiverOptions>, ...deliveries: ReadonlyArray<ReadonlyArray<TransitEvent>>) => {
      const { calls, receiver } = recording(options)
      for (const [index, events] of deliveries.entries()) await receiver.receive(await signed(bytesOf(batchOf(`D${index}`, events))))
      return calls.map(({ context }) => ({
        missing: context.order.missing,
        late: context.order.late.map(({ eventId }) => eventId),
        outOfOrder: context.order.outOfOrder.map(({ eventId }) => eventId),
        repeated: context.order.repeated.map(({ eventId }) => eventId)
      }))
    }
    const quiet = { missing: [], late: [], outOfOrder: [], repeated: [] }

    it("a gap when it opens, that it is still open, and the late event that fills it", async () => {
      expect(await report({}, [eventOf("S", 1)], [eventOf("S", 5)], [eventOf("S", 6)], [eventOf("S", 3)], [eventOf("S", 2), eventOf("S", 4)])).toEqual([
        quiet,
        { ...quiet, missing: [{ shipmentId: "S", from: 2, to: 4, known: false }] },
        { ...quiet, missing: [{ shipmentId: "S", from: 2, to: 4, known: true }] },
        { ...quiet, late: ["S-3"], missing: [{ shipmentId: "S", from: 2, to: 2, known: true }, { shipmentId: "S", from: 4, to: 4, known: true }] },
        { ...quiet, late: ["S-2", "S-4"] }
      ])
    })

    it("each shipment separately, from its first received event", async () => {
      expect(await report({}, [eventOf("A", 7), eventOf("B", 100)], [eventOf("A", 8), eventOf("B", 101)])).toEqual([quiet, quiet])
    })

    it("an event behind a later one of its shipment in the same delivery", async () => {
      expect(await report({}, [eventOf("A", 1), eventOf("A", 3), eventOf("B", 1), eventOf("A", 2)])).toEqual([{ ...quiet, outOfOrder: ["A-2"] }])
    })

    it("events before the first one received", async () => {
      expect(await report({}, [eventOf("A", 5)], [eventOf("A", 2)])).toEqual([
        quiet,
        { ...quiet, late: ["A-2"], missing: [{ shipmentId: "A", from: 3, to: 4, known: false }] }
      ])
    })

    it("another event with a used number", async () => {
      expect(await report({}, [eventOf("A", 1)], [eventOf("A", 1, { eventId: "other" })])).toEqual([quiet, { ...quiet, repeated: ["other"] }])
    })

    it("no numbers of a delivery whose handler failed", async () => {
      let fail = true
      const seen: Array<unknown> = []
      const { receiver } = recording({
        onEvents: (_, context) => {
          if (fail) throw new Error("no")
          seen.push(context.order.missing)
        }
      })
      await receiver.answer(await signed(bytesOf(batchOf("D1", [eventOf("A", 1)]))))
      fail = false
      await receiver.answer(await signed(bytesOf(batchOf("D2", [eventOf("A", 3)]))))
      await receiver.answer(await signed(bytesOf(batchOf("D1", [eventOf("A", 1)]))))
      expect(seen).toEqual([[], [{ shipmentId: "A", from: 2, to: 2, known: false }]])
    })

    it("nothing when disabled, and by default with a store that processes share", async () => {
      const memory = new SeenInMemory()
      const shared: SeenStore = {
        claim: (...given) => memory.claim(...given),
        markSeen: (...given) => memory.markSeen(...given),
        release: (...given) => memory.release(...given)
      }
      for (const options of [{ sequences: false }, { seen: shared }] as const) {
        expect(await report(options, [eventOf("A", 1)], [eventOf("A", 9)])).toEqual([quiet, quiet])
      }
    })
  })
})
