import { describe, expect, it } from "vitest"
import { reportedEvent } from "../../src/index.ts"
import { startedWaybill } from "../startedWaybill.ts"

const start = async () => {
  const waybill = await startedWaybill()
  const receiver = waybill.receiver("https://shop.example/hook")
  await waybill.subscriptions.create(waybill.shipper, { endpointUrl: receiver.url, hmacSecretId: waybill.hmacSecretId })
  const publish = () => waybill.events.publish(waybill.carrier, [reportedEvent("S-1", { accounts: ["A-1"] })])
  return { waybill, receiver, publish, sequences: () => receiver.received.flatMap(({ events }) => events.map(({ sequence }) => sequence)) }
}

const startedAt = Date.parse("2026-11-20T14:00:00Z")

describe("faults of a receiver", () => {
  it("duplicate: the same delivery arrives twice, without other differences", async () => {
    const { publish, receiver, sequences } = await start()
    receiver.faults.duplicate()
    await publish()
    await publish()
    expect(sequences()).toEqual([1, 1, 2])
    const [first, second] = receiver.received
    expect(second).toEqual(first)
  })

  it("reorder: a delivery arrives after the next one", async () => {
    const { publish, receiver, sequences } = await start()
    receiver.faults.reorder()
    await publish()
    receiver.assertReceived(0)
    await publish()
    await publish()
    expect(sequences()).toEqual([2, 1, 3])
    receiver.assertNoDuplicates()
    expect(() => receiver.assertInOrder()).toThrow("Event 1 of S-1")
  })

  it("drop: a delivery is lost, and comes again under the same id after the sender's deadline", async () => {
    const { publish, receiver, sequences, waybill } = await start()
    receiver.faults.drop({ times: 2 })
    await publish()
    await waybill.advance("9 seconds")
    receiver.assertReceived(0)
    await waybill.advance("10 minutes")
    expect(sequences()).toEqual([1])
    const { deliveryId } = receiver.received[0]!
    expect(await waybill.deliveries.get(waybill.tenantId, deliveryId)).toMatchObject({ state: "delivered" })
  })

  it("delay: a delivery arrives later, and the following ones wait for it", async () => {
    const { publish, receiver, sequences, waybill } = await start()
    receiver.faults.delay("3 seconds")
    await publish()
    await publish()
    receiver.assertReceived(0)
    await waybill.advance("3 seconds")
    expect(sequences()).toEqual([1, 2])
    expect(receiver.received.map(({ at }) => at.getTime() - startedAt)).toEqual([3000, 3000])
  })

  it("delay past the deadline: it arrives concurrently with the sender's next attempt", async () => {
    const { publish, receiver, waybill } = await start()
    receiver.faults.delay("2 hours")
    await publish()
    await waybill.advance("3 hours")
    receiver.assertReceived(2)
    const [attempt, delayed] = receiver.received
    expect(delayed!.deliveryId).toBe(attempt!.deliveryId)
    expect(delayed).toMatchObject({ at: new Date(startedAt + 7_200_000), signature: "stale" })
    expect(attempt).toMatchObject({ signature: "good" })
  })

  it("slow: the response is delayed; past the deadline the same delivery comes again", async () => {
    const { publish, receiver, sequences, waybill } = await start()
    receiver.faults.slow("5 seconds").slow("1 hour")
    await publish()
    await publish()
    expect(sequences()).toEqual([1])
    await waybill.advance("5 seconds")
    expect(sequences()).toEqual([1, 2])
    await waybill.advance("1 hour")
    expect(sequences()).toEqual([1, 2, 2])
    expect(receiver.received[2]!.deliveryId).toBe(receiver.received[1]!.deliveryId)
  })

  it("skew: the signature is good, but its timestamp is off", async () => {
    const { publish, receiver } = await start()
    receiver.faults.skew("10 minutes").skew("1 minute")
    await publish()
    await publish()
    expect(receiver.received.map(({ signature }) => signature)).toEqual(["stale", "good"])
    expect(receiver.received.map(({ headers }) => startedAt / 1000 - Number(headers["webhook-timestamp"]))).toEqual([600, 60])
  })

  it("wrong signature: only the signing key is wrong", async () => {
    const { publish, receiver } = await start()
    receiver.faults.wrongSignature()
    await publish()
    await publish()
    expect(receiver.received.map(({ signature }) => signature)).toEqual(["wrong", "good"])
  })

  it("each affect one request, in the order of their calls", async () => {
    const { publish, receiver, sequences } = await start()
    receiver.faults.wrongSignature().duplicate()
    for (let count = 0; count < 3; count++) await publish()
    expect(sequences()).toEqual([1, 2, 2, 3])
    expect(receiver.received.map(({ signature }) => signature)).toEqual(["wrong", "good", "good", "good"])
  })
})
