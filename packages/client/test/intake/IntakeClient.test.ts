import { describe, expect, it } from "vitest"
import { IntakeClient, type IntakeReport, type ReportedEvent } from "../../src/intake/index.ts"
import { type Answering, json, problem, scriptedServer } from "../scripted-server.ts"

const clientOf = (answer: Answering) => {
  const server = scriptedServer(answer)
  return { ...server, client: new IntakeClient({ baseUrl: "https://waybill.test", apiKey: "k", fetch: server.fetch, retry: { firstPauseMillis: 1 } }) }
}
const reported: ReportedEvent = {
  type: "PICKED_UP",
  occurredAt: "2026-11-20T08:15:00-06:00",
  shipment: { shipmentId: "S1", origin: {}, destination: {} },
  parties: { accounts: ["4711"] }
}
const report: IntakeReport = { results: [{ index: 0, result: "accepted", shipmentId: "S1", eventId: "e-1", sequence: 1 }] }

describe("IntakeClient", () => {
  it("hands in events", async () => {
    const { client, received } = clientOf(() => json(report))
    expect(await client.publishTransitEvents([reported])).toEqual(report)
    expect(received[0]).toMatchObject({ method: "POST", path: "/intake/v1/transit-events", body: { events: [reported] } })
  })

  it("asks for a partial acceptance only when told to", async () => {
    const { client, received } = clientOf(() => json(report))
    await client.publishTransitEvents([reported], { partial: true })
    await client.publishTransitEvents([reported], { partial: false })
    expect(received.map(({ path }) => path)).toEqual(["/intake/v1/transit-events?partial=true", "/intake/v1/transit-events"])
  })

  it("repeats a lost call only when every event has its own id", async () => {
    const { client, received } = clientOf((_, count) => count === 0 ? problem(503) : json(report))
    expect(await client.publishTransitEvents([{ ...reported, eventId: "e-1" }])).toEqual(report)
    expect(received).toHaveLength(2)
    const without = clientOf(() => problem(503))
    await expect(without.client.publishTransitEvents([{ ...reported, eventId: "e-1" }, reported])).rejects.toMatchObject({ status: 503 })
    expect(without.received).toHaveLength(1)
  })
})
