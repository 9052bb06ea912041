import { expect, it, vi } from "vitest"
import { reportedEvent } from "../../src/index.ts"
import { startedWaybill } from "../startedWaybill.ts"

// as a runner's configuration does, such as fakeTimers.enableGlobally of Jest
vi.hoisted(() => void vi.useFakeTimers())

it("works where every timer was replaced before the test kit was imported", async () => {
  expect(vi.isFakeTimers()).toBe(true)
  const waybill = await startedWaybill()
  const receiver = waybill.receiver("https://shop.example/hook").answers(503, 200)
  await waybill.subscriptions.create(waybill.shipper, { endpointUrl: receiver.url, hmacSecretId: waybill.hmacSecretId })
  await waybill.events.publish(waybill.carrier, [reportedEvent("S-1", { accounts: ["A-1"] })])
  await waybill.advance("1 minute")
  receiver.assertReceived(2)
})
