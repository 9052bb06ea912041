/** A suite for node:test; startTestWaybill.test.ts runs it in a separate process. */
import assert from "node:assert/strict"
import { after, before, test } from "node:test"
import { type StartedTestWaybill, startTestWaybill } from "../../src/index.ts"

let waybill: StartedTestWaybill
before(async () => void (waybill = await startTestWaybill()))
after(() => waybill.stop())

test("deliveries are signed and in order", async () => {
  const receiver = waybill.receiver("https://shop.example/hook")
  const journey = waybill.journey("plain LTL")
  await journey.subscribe({ events: receiver.url })
  await journey.advanceTo("delivered")
  receiver.assertSigned()
  receiver.assertInOrder()
  assert.equal(receiver.received.at(-1)?.events[0]?.type, "DELIVERED")
})

test("a receiver that was down gets the delivery later", async () => {
  const receiver = waybill.receiver("https://other.example/hook").answers(503, 200)
  await waybill.subscriptions.create(waybill.shipper, { endpointUrl: receiver.url, hmacSecretId: waybill.hmacSecretId })
  const journey = waybill.journey("refused", { shipmentId: "S-2", proNumber: "0418367746" })
  await journey.advanceTo("pickup scheduled")
  receiver.assertReceived(1)
  await waybill.advance("1 minute")
  receiver.assertReceived(2)
})
