import { pickupRequest } from "@waybill/testkit"
import { describe, expect, it } from "vitest"
import { operatorKey, problemCode, runningService } from "../TestService.ts"

const day = `${new Date().getUTCFullYear() + 1}-11-20`

const service = await runningService()
const acme = await service.tenant("acme")
const shipper = await acme.customer("shipper", ["A1"])

const order = async (): Promise<string> => {
  const answer = await service.send("POST", "/pickup/v1/pickups", { key: shipper, body: pickupRequest({ day }) })
  return answer.json[0].carrierPickupNumber
}

const report = (number: string, body: unknown, key: string | undefined = acme.carrier) => service.send("POST", `/intake/v1/pickups/${number}/status`, { key, body })
const record = (number: string, key: string | undefined = acme.carrier) => service.send("GET", `/intake/v1/pickups/${number}`, { key })

describe("a pickup report of the carrier's system", () => {
  it("updates the pickup, is a duplicate when repeated, and is kept with author and time", async () => {
    const number = await order()
    const body = { status: "en route", stopEta: `${day}T13:00:00Z`, equipmentInformation: { driverName: "Kim", stopsAway: 2 } }
    const taken = await report(number, body)
    expect([taken.status, taken.json]).toEqual([200, { result: "accepted", pickupId: expect.any(String), carrierPickupNumber: number, status: "En Route" }])
    expect((await report(number, body)).json.result).toBe("duplicate")
    const found = await record(number)
    expect([found.status, found.json.carrierPickupNumber, found.json.visibility.status, found.json.visibility.stopEta]).toEqual([200, number, "En Route", `${day}T08:00:00.000`])
    expect(found.json.history.map(({ by, position, status, what }: any) => [position, what, by, status])).toEqual([[1, "ordered", "key:shipper", "Accepted"], [2, "reported", "key:carrier", "En Route"]])
    expect(found.json.request).toMatchObject({ isTest: "False", customer: "Closets" })
    expect((await record(found.json.pickupId)).json).toEqual(found.json)
  })

  it.each([
    ["nothing", {}, ""],
    ["a status that is none", { status: "Lost" }, "/status"],
    ["a move that is not permitted", { status: "Departed" }, "/status"],
    ["a cancellation without its reason", { status: "Cancelled" }, "/informationCode"],
    ["a list", [], ""]
  ])("refuses %s, and changes nothing", async (_what, body, place) => {
    const number = await order()
    const answer = await report(number, body)
    expect([answer.status, problemCode(answer), answer.json.errors[0].pointer]).toEqual([400, "invalid_input", place])
    expect((await record(number)).json.history.length).toBe(1)
  })

  it("requires a carrier of the tenant", async () => {
    const rival = await service.tenant("rival")
    const number = await order()
    const own = { status: "En Route" }
    for (const ask of [(key: string | undefined) => report(number, own, key), (key: string | undefined) => record(number, key)]) {
      expect(problemCode(await ask(shipper))).toBe("not_permitted")
      expect(problemCode(await ask(operatorKey))).toBe("not_permitted")
      expect(problemCode(await ask("wrong"))).toBe("unauthenticated")
      expect(problemCode(await ask(rival.carrier))).toBe("pickup_not_found")
    }
    for (const id of ["999999999", "%00", "0b8f2c1e-6f0a-7c3d-9a55-2d1f0c9e8b77", "x".repeat(300)]) {
      expect([problemCode(await report(id, own)), problemCode(await record(id))]).toEqual(["pickup_not_found", "pickup_not_found"])
    }
    expect((await record(number)).json.visibility.status).toBe("Accepted")
  })
})

describe("the carrier's work list over HTTP", () => {
  it("lists each change once, and nextCursor is always there", async () => {
    const list = (query = "") => service.send("GET", `/intake/v1/pickups${query}`, { key: acme.carrier })
    const start = (await list()).json.nextCursor
    const number = await order()
    await report(number, { status: "En Route" })
    const page = await list(`?cursor=${start}`)
    expect([page.status, page.json.data.map(({ change, confirmationNumber, status }: any) => [change, confirmationNumber, status])])
      .toEqual([200, [["ordered", number, "Accepted"], ["status", number, "En Route"]]])
    expect(Object.keys(page.json.data[0])).toEqual(["at", "change", "pickupId", "confirmationNumber", "status", "request"])
    expect(page.json.data[0].request).toMatchObject({ isTest: "False", requestFunction: "NewPickup", carrierPickupNumber: null })
    expect((await list(`?cursor=${page.json.nextCursor}`)).json).toEqual({ data: [], nextCursor: page.json.nextCursor })
    expect((await list(`?cursor=${start}&limit=1&status=en%20route`)).json.data).toEqual([page.json.data[0]])
    // the plus of an offset means a blank in a query
    for (const since of ["2099-01-01T00:00:00Z", "2099-01-01T00:00:00+00:00"]) expect((await list(`?since=${since}`)).json).toEqual({ data: [], nextCursor: page.json.nextCursor })
    expect((await list("?cursor=none")).json.errors[0]).toMatchObject({ parameter: "cursor" })
    expect(problemCode(await service.send("GET", "/intake/v1/pickups", { key: shipper }))).toBe("not_permitted")
  })

  it("answers 409 to a decision on a pickup that is decided", async () => {
    const decision = await service.send("POST", `/intake/v1/pickups/${await order()}/decision`, { key: acme.carrier, body: { decision: "accept" } })
    expect([decision.status, problemCode(decision)]).toEqual([409, "pickup_decided"])
  })
})
