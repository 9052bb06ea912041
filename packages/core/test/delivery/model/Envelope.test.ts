import { assert, describe, it } from "@effect/vitest"
import { bytesOfBody, type RequestBody, wrap } from "@waybill/core/delivery"
import { eventBatchEnvelope } from "@waybill/core/transit-events"
import { json, listOf } from "../../arbitraries.ts"

const bytes = (text: string) => new TextEncoder().encode(text)
const textOf = (body: RequestBody) => new TextDecoder().decode(bytesOfBody(body))

describe("wrap", () => {
  it.prop("puts events of any content into one JSON body under the delivery's id", [listOf(json, 1, 5)], ([events]) => {
    const payloads = events.map((event) => JSON.stringify({ event }))
    const body = JSON.parse(textOf(wrap(eventBatchEnvelope, "d-1", 1_763_626_500_000, payloads.map(bytes))))
    assert.deepStrictEqual(body, { deliveryId: "d-1", sentAt: "2025-11-20T08:15:00.000Z", events: payloads.map((text) => JSON.parse(text)) })
  })

  it("produces the same bytes for parts that are already joined", () => {
    const [a, b, c] = ["{\"n\":1}", "{\"n\":\"ä\"}", "{\"n\":3}"]
    const apart = textOf(wrap(eventBatchEnvelope, "d", 0, [bytes(a), bytes(b), bytes(c)]))
    assert.strictEqual(textOf(wrap(eventBatchEnvelope, "d", 0, [bytes(`${a},${b}`), bytes(c)])), apart)
    assert.strictEqual(textOf(wrap(eventBatchEnvelope, "d", 0, [bytes(`${a},${b},${c}`)])), apart)
  })

  it("sends the stored bytes themselves", () => {
    const stored = bytes("{}")
    assert.strictEqual(wrap({ open: "", close: "" }, "d", 0, [stored])[0], stored)
    assert.strictEqual(wrap(eventBatchEnvelope, "d", 0, [stored])[1], stored)
  })
})
