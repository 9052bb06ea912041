import { freightCharge } from "@waybill/testkit"
import { expect, it } from "vitest"
import { charge } from "../freight-charges/FreightChargeSamples.ts"
import { problemCode, runningService } from "../TestService.ts"

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

it("accepts one change, bare or wrapped, and a bare list; a removed bill needs only its id", async () => {
  for (const [index, body] of [charge("created", "O0"), { charges: charge("created", "O1") }, [charge("created", "O2")]].entries()) {
    expect((await post(body)).json.results).toEqual([{ index: 0, result: "accepted", uniqueID: `O${index}`, version: 1 }])
  }
  expect((await post({ change: "removed", pfc: { pfc: { uniqueID: "O0" } } })).json.results).toEqual([{ index: 0, result: "accepted", uniqueID: "O0", version: 2 }])
})

it("refuses the whole call for one invalid change, with its location", async () => {
  const answer = await acme.charge(charge("created", "W1"), { change: "created", pfc: { ...freightCharge("W2"), billTo: undefined } }, { ...charge("created", "W3"), change: "lost" })
  expect([answer.status, problemCode(answer)]).toEqual([400, "invalid_input"])
  expect(answer.json.errors.map((error: { pointer: string }) => error.pointer)).toEqual(["/charges/1/pfc/billTo", "/charges/2/change"])
  expect((await acme.charge(charge("created", "W1"))).json.results[0].result).toBe("accepted")
})

it("accepts the valid ones with ?partial=true and reports changes that contradict the bill", async () => {
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
