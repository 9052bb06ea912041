import { expect, it } from "vitest"
import { problemCode, reportedEvent, runningService } from "../TestService.ts"

const service = await runningService()
const acme = await service.tenant("acme")

const report = (body: unknown, query = "") => service.send("POST", `/intake/v1/transit-events${query}`, { key: acme.carrier, body })

it("answers per item, in order, with assigned ids", async () => {
  const given = reportedEvent("I1", { eventId: "i1-a" })
  await report({ events: [given] })
  const answer = await report({ events: [reportedEvent("I1"), given, reportedEvent("I2", { eventId: "i2-a", sequence: 7 })] })
  expect(answer.status).toBe(200)
  expect(answer.json.results).toEqual([
    { index: 0, result: "accepted", eventId: expect.stringMatching(/^[0-9a-f-]{36}$/), shipmentId: "I1", sequence: 2 },
    { index: 1, result: "duplicate", eventId: "i1-a", shipmentId: "I1", sequence: 1 },
    { index: 2, result: "accepted", eventId: "i2-a", shipmentId: "I2", sequence: 7 }
  ])
})

it("reports each error of a call with ?partial=true", async () => {
  await report({ events: [reportedEvent("I5", { eventId: "i5" })] })
  const answer = await report(
    { events: [{ type: "DELAY" }, reportedEvent("I5"), reportedEvent("I5", { eventId: "i5", type: "DELIVERED" }), 5] },
    "?partial=true"
  )
  expect(answer.status).toBe(200)
  expect(answer.json.results.map(({ index, result }: { index: number; result: string }) => [index, result])).toEqual([
    [0, "error"], [1, "accepted"], [2, "error"], [3, "error"]
  ])
  expect(answer.json.results[0].errors[0]).toEqual({ pointer: "/events/0/occurredAt", detail: "This field is required.", code: "required" })
  expect(answer.json.results[2].errors[0].code).toBe("conflict")
})

it("accepts a thousand large events in one call, and at most 16 MiB", async () => {
  const note = "n".repeat(9_000)
  const many = Array.from({ length: 1000 }, (_, n) => reportedEvent(`L${n % 10}`, { more: { notes: note } }))
  const taken = await report({ events: many })
  expect([taken.status, taken.json.results.length]).toEqual([200, 1000])
  const tooMany = await report({ events: many.map((event) => ({ ...event, attributes: { more: note } })) })
  expect([tooMany.status, problemCode(tooMany)]).toEqual([413, "body_too_large"])
})
