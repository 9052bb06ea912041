import { assert, describe, it } from "@effect/vitest"
import { bytesOfBody, type RequestBody, wrap } from "@waybill/core/delivery"
import { eventBatchEnvelope } from "@waybill/core/transit-events"
import { json, listOf } from "../../arbitraries.ts"

const bytes = (text: string) => new TextEncoder().encode(text)
const textOf = (body: RequestBody) => new TextDecoder().decode(bytesOfBody(body))

describe("wrap", () => {
  it.prop("puts events of any content into one JSON body under the delivery's id", [listOf(json, 1, 5)], ([events]) => {
    const payloads = events.map((event) => JSON.stringify({ event }))
    const body = JSON.parse(textOf(wrap(eventBatchEnvelope, "d-1", 1_763_626_500_000, bytes(payloads.join()))))
    assert.deepStrictEqual(body, { deliveryId: "d-1", sentAt: "2025-11-20T08:15:00.000Z", events: payloads.map((text) => JSON.parse(text)) })
  })

  it("adds nothing where the envelope is empty", () => {
    assert.strictEqual(textOf(wrap({ open: "", close: "" }, "d", 0, bytes("{}"))), "{}")
  })

  it("sends the stored bytes themselves", () => {
    const stored = bytes("{}")
    assert.strictEqual(wrap({ open: "", close: "" }, "d", 0, stored)[1], stored)
    assert.strictEqual(wrap(eventBatchEnvelope, "d", 0, stored)[1], stored)
  })
})
