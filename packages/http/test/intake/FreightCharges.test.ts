import { expect, it } from "vitest"
import { charge } from "../freight-charges/FreightChargeSamples.ts"
import { runningService } from "../TestService.ts"

const service = await runningService()
const acme = await service.tenant("acme")

const post = (body: unknown, query = "") => service.send("POST", `/intake/v1/freight-charges${query}`, { key: acme.carrier, body })

it("answers per item with the bill and its version, which the service counts", async () => {
  await acme.charge(charge("created", "F-1"))
  const answer = await acme.charge(charge("created", "F-1"), charge("updated", "F1", { total: 300 }), charge("created", "F2"), charge("final", "F 1", { total: 300 }))
  expect([answer.status, answer.json.results]).toEqual([200, [
    { index: 0, result: "duplicate", uniqueID: "F1", version: 1 },
    { index: 1, result: "accepted", uniqueID: "F1", version: 2 },
    { index: 2, result: "accepted", uniqueID: "F2", version: 1 },
    { index: 3, result: "accepted", uniqueID: "F1", version: 3 }
  ]])
})

it("accepts a removal of a bill by its id alone", async () => {
  await acme.charge(charge("created", "O0"))
  expect((await post({ change: "removed", pfc: { pfc: { uniqueID: "O0" } } })).json.results).toEqual([{ index: 0, result: "accepted", uniqueID: "O0", version: 2 }])
})

it("reports with ?partial=true each change that contradicts the bill", async () => {
  await acme.charge(charge("created", "P1"), charge("final", "P1"))
  const answer = await post({ charges: [charge("updated", "P1", { total: 1 }), charge("removed", "P0"), charge("created", "P2"), { more: true }] }, "?partial=true")
  expect(answer.status).toBe(200)
  expect(answer.json.results.map(({ errors, index, result }: any) => [index, result, errors?.[0].code])).toEqual([
    [0, "error", "conflict"],
    [1, "error", "unknown_reference"],
    [2, "accepted", undefined],
    [3, "error", "required"]
  ])
})

it("separates bills of tenants", async () => {
  const rival = await service.tenant("rival")
  await acme.charge(charge("created", "SAME"))
  expect((await rival.charge(charge("created", "SAME", { total: 5 }))).json.results).toMatchObject([{ result: "accepted", version: 1 }])
})
