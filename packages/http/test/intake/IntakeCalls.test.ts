import { describe, expect, it } from "vitest"
import { charge } from "../freight-charges/FreightChargeSamples.ts"
import { reportedShipment } from "../shipment-status/ShipmentSamples.ts"
import { problemCode, reportedEvent, runningService } from "../TestService.ts"

const service = await runningService()
const acme = await service.tenant("acme")

/** Each call with a valid item by its id, and an item with two wrong members. */
const calls = {
  "transit-events": {
    member: "events",
    one: (id: string) => reportedEvent("S", { eventId: id }),
    wrong: { ...reportedEvent("S"), type: "LOST", occurredAt: "soon" },
    faults: ["type", "occurredAt"]
  },
  shipments: { member: "shipments", one: reportedShipment, wrong: { ...reportedShipment("W"), ProNumber: 5, GrossWeight: "heavy" }, faults: ["ProNumber", "GrossWeight"] },
  "status-updates": {
    member: "updates",
    one: (id: string) => ({ shipmentId: "S", updateId: id, deliveryInformation_messages: "Noted reweigh" }),
    wrong: { shipmentId: "S", shipmentMilestoneStatus: "Lost", occurredAt: "soon" },
    faults: ["occurredAt", "shipmentMilestoneStatus"]
  },
  "freight-charges": {
    member: "charges",
    one: (id: string) => charge("created", id),
    wrong: { change: "created", pfc: { ...charge("created", "W").pfc, billTo: undefined, payment: 5 } },
    faults: ["pfc/payment", "pfc/billTo"]
  }
} as const

describe.each(Object.entries(calls))("POST /%s", (call, { faults, member, one, wrong }) => {
  const post = (body: unknown, query = "") => service.send("POST", `/intake/v1/${call}${query}`, { key: acme.carrier, body })
  const resultsOf = async (body: unknown, query = "") => (await post(body, query)).json.results.map(({ index, result }: { index: number; result: string }) => [index, result])

  it("accepts one item, bare or wrapped, and a bare list", async () => {
    await acme.register(reportedShipment("S"))
    for (const body of [one("A"), { [member]: one("B") }, [one("C")]]) expect(await resultsOf(body)).toEqual([[0, "accepted"]])
  })

  it("refuses the whole call for one invalid item, with its location", async () => {
    const answer = await post({ [member]: [one("D"), wrong] })
    expect([answer.status, problemCode(answer)]).toEqual([400, "invalid_input"])
    expect(answer.json.errors.map(({ pointer }: { pointer: string }) => pointer).sort()).toEqual(faults.map((fault) => `/${member}/1/${fault}`).sort())
    expect(await resultsOf([one("D")])).toEqual([[0, "accepted"]])
  })

  it("accepts the valid ones with ?partial=true, and reports the errors of the others", async () => {
    const answer = await post({ [member]: [wrong, one("E"), 5] }, "?partial=true")
    expect([answer.status, answer.json.results.map(({ errors, result }: any) => [result, errors?.[0].pointer.split("/").slice(0, 3)])]).toEqual([200, [
      ["error", ["", member, "0"]], ["accepted", undefined], ["error", ["", member, "2"]]
    ]])
    expect(await resultsOf([one("E")])).toEqual([[0, "duplicate"]])
  })

  it.each(["yes", "1", "", "TRUE"])("refuses ?partial=%s", async (partial) => {
    const answer = await post([one("F")], `?partial=${partial}`)
    expect([answer.status, answer.json.errors]).toEqual([400, [{ detail: "partial is true or false.", parameter: "partial", code: "invalid" }]])
  })

  it("refuses a body that is not a list of 1 to 1,000 items", async () => {
    for (const body of [{}, { [member]: [] }, { [member]: "x" }, "null", "5", "[]", "text", { [member]: Array.from({ length: 1001 }, () => ({})) }]) {
      const answer = await post(body)
      expect([JSON.stringify(body).slice(0, 40), answer.status, problemCode(answer)])
        .toEqual([JSON.stringify(body).slice(0, 40), 400, body === "text" ? "invalid_json" : "invalid_input"])
    }
  })
})
