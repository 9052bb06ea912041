/** Tests your receiver with the journey of refused freight and many faults between you and the carrier. */
import { DeliveryReceiver, SeenInMemory } from "@waybill/client/receiver"
import { startTestWaybill } from "@waybill/testkit"

const waybill = await startTestWaybill()

// your own code, independent of the test kit
const handled: Array<string> = []
const yours = new DeliveryReceiver({
  secrets: waybill.secret,
  seen: new SeenInMemory(),
  now: waybill.now,
  onEvents(events) {
    for (const { sequence, type } of events) handled.push(`#${sequence} ${type}`)
  }
})

const receiver = waybill.receiver("https://yours.example/hook").handledBy(yours.handle)
const journey = waybill.journey("refused")
await journey.subscribe({ events: receiver.url })

await journey.advanceTo("picked up")
console.log(`picked up: ${receiver.received.length} requests, handled ${handled.join(", ")}`)

receiver.faults.duplicate().drop().slow("5 minutes").wrongSignature().skew("10 minutes")
await journey.advanceTo("delivered")
await waybill.advance("1 hour")

const bad = receiver.received.filter(({ signature }) => signature !== "good")
const ids = new Set(receiver.received.map(({ deliveryId }) => deliveryId))
console.log(`delivered: ${receiver.received.length} requests of ${ids.size} deliveries, rejected signatures: ${bad.map(({ signature }) => signature).join(", ")}`)
console.log(`handled, each once and in order:\n  ${handled.join("\n  ")}`)

await waybill.stop()
