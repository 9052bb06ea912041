/** What the client says by hand, core says by schema: both must say the same. */
import * as core from "@waybill/core"
import { Schema } from "effect"
import { createHmac } from "node:crypto"
import { describe, expect, expectTypeOf, it } from "vitest"
import type { EventPublication, ReportedEvent } from "../src/intake/index.ts"
import type { Delivery, DeliveryInFull, DeliveryState } from "../src/operator/index.ts"
import { verifyDelivery, verifyXSignature } from "../src/receiver/index.ts"
import { type EventBatch, eventTypes, parseEventBatch, type TransitEvent, type TransitSubscription } from "../src/transit-events/index.ts"
import { forRandom } from "./random.ts"
import { bytesOf, eventOf, secret } from "./samples.ts"

const hmac = (key: Uint8Array, chunks: ReadonlyArray<Uint8Array>) => chunks.reduce((hash, chunk) => hash.update(chunk), createHmac("sha256", key)).digest()

const fullEvent: ReportedEvent = {
  eventId: "01JD",
  sequence: 4,
  type: "PROOF_OF_DELIVERY",
  status: "D1",
  occurredAt: "2026-11-20T08:15:00-06:00",
  reportedAt: "2026-11-20T14:16:00Z",
  location: {
    locationId: "L1", name: "Dock 4", type: "FACILITY", latitude: 41.25, longitude: -95.99, city: "Omaha", state: "NE",
    postalCode: "68102", country: "USA", address1: "1 Main St", address2: "Rear"
  },
  notes: "left with reception",
  attributes: { terminalCode: "OMA" },
  documents: [{ type: "POD", url: "https://docs.test/1", mimeType: "application/pdf" }],
  shipment: {
    shipmentId: "S1", mode: "LTL", scac: "ABCD", references: [{ type: "PRO", value: "123" }], requestedPickupDate: "2026-11-19T08:00:00Z",
    startDate: "2026-11-19T09:00:00Z", endDate: "2026-11-20T09:00:00Z", origin: { city: "Tulsa" }, destination: {}
  },
  parties: { accounts: ["4711"] }
}

describe("The client agrees with core", () => {
  it("on the event types", () => {
    expect(eventTypes).toEqual(core.eventTypes)
  })

  it("on the shape of what the service gives out", () => {
    expectTypeOf<core.TransitEvent>().toExtend<TransitEvent>()
    expectTypeOf<core.EventBatch>().toExtend<EventBatch>()
    expectTypeOf<core.TransitSubscription>().toExtend<TransitSubscription>()
    expectTypeOf<core.DeliveryView>().toExtend<Delivery>()
    expectTypeOf<core.DeliveryBodyView>().toExtend<DeliveryInFull>()
    // refusals are worded for HTTP by the handler: `error` and `errors`
    expectTypeOf<Exclude<core.Publication, core.Refusal>>().toExtend<EventPublication>()
    expectTypeOf<DeliveryState>().toEqualTypeOf<core.DeliveryState>()
  })

  it("on every field of an event: core knows each one the client names", () => {
    const read = Schema.decodeUnknownSync(core.ReportedEvent, { onExcessProperty: "error" })
    expect(read(fullEvent)).toEqual(fullEvent)
  })

  it("on the bytes of a delivery and their signatures", () => forRandom(50, async (random) => {
    const events = Array.from({ length: 1 + random.below(4) }, (_, index) => eventOf("S1", index, { notes: random.pick(["", "é", "\"", "\u2028"]) }))
    const body = core.wrap(core.eventBatchEnvelope, "0199-d", Date.parse("2026-11-20T08:00:00Z"), events.map((event) => bytesOf(event)))
    expect(parseEventBatch(body)).toEqual({ deliveryId: "0199-d", sentAt: "2026-11-20T08:00:00.000Z", events })
    const newest = core.formatSecret(random.bytes(24 + random.below(41)))
    const keys = [newest, secret].map((text) => core.parseSecret(text)!)
    const now = new Date(1_700_000_000_000)
    const headers = {
      "webhook-id": "0199-d",
      "webhook-timestamp": "1700000000",
      "webhook-signature": core.signatureHeader(hmac, keys, { deliveryId: "0199-d", timestampSeconds: 1_700_000_000, body }),
      "x-signature": core.bodySignatureHeader(hmac, keys[0]!, body)
    }
    for (const secrets of [newest, secret, [secret, newest]]) expect((await verifyDelivery({ secrets, headers, body, now })).deliveryId).toBe("0199-d")
    expect(await verifyXSignature({ secrets: [secret, newest], headers, body })).toEqual({ secretIndex: 1 })
  }))
})
