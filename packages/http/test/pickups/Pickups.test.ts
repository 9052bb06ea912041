import { type PickupJson, pickupRequest } from "@waybill/testkit"
import { describe, expect, it } from "vitest"
import { type Answer, operatorKey, runningService } from "../TestService.ts"

/** Far enough in the future that no window of a test is over. */
const day = `${new Date().getUTCFullYear() + 1}-11-20`

const service = await runningService()
const acme = await service.tenant("acme")
const shipper = await acme.customer("shipper", ["A1"])

const call = (method: string, path: string, key?: string, body?: unknown, headers: Readonly<Record<string, string>> = {}) =>
  service.send(method, `/pickup/v1/pickups${path}`, { key, headers: { "x-request-id": "same", ...headers }, ...(body === undefined ? {} : { body }) })

const request = (overrides: Parameters<typeof pickupRequest>[0] = {}) => pickupRequest({ day, ...overrides })

const order = async (overrides: Parameters<typeof pickupRequest>[0] = {}, key = shipper): Promise<string> => {
  const answer = await call("POST", "/", key, request(overrides))
  expect([answer.status, answer.json[0]?.pickupStatus]).toEqual([200, "Accept"])
  return answer.json[0].carrierPickupNumber
}

const look = (value: string, key: string | undefined = shipper, more: Readonly<Record<string, string>> = {}) =>
  call("GET", `/?${new URLSearchParams({ lookupValue: value, lookupType: "PickupConfirmationID", requestType: "PickupStatus", isTest: "false", ...more })}`, key)

const report = (number: string, body: PickupJson, key = acme.carrier) => service.send("POST", `/intake/v1/pickups/${number}/status`, { key, body })

const refusal = ({ headers, json, status }: Answer) => [status, headers.get("content-type"), Object.keys(json ?? {}), typeof json?.message]
const refused = (status: number) => [status, "application/json", ["message"], "string"]

/** 404 has no body, as published. */
const expectNothing = (answer: Answer) => expect([answer.status, answer.text, answer.headers.get("content-type"), answer.headers.get("content-length")]).toEqual([404, "", null, "0"])

describe("ordering a pickup", () => {
  it.each(["/", ""])("answers 200 with one answer in an array, at the path with %j at its end (SPEC-GAP-C32)", async (end) => {
    const answer = await call("POST", end, shipper, request())
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/json"])
    expect(answer.json).toEqual([{
      shipperRef: ["LOAD-7", "041-8367745"],
      carrierPickupNumber: expect.stringMatching(/^1\d{8}$/),
      pickupStatus: "Accept",
      trailerNumber: null,
      carrierName: null,
      routing: null,
      scac: null,
      pickupMessage: []
    }])
  })

  it("orders one truck per idempotency key, however often it is sent, and refuses another request with it", async () => {
    const headers = { "idempotency-key": "order-1" }
    const answers = await Promise.all(Array.from({ length: 4 }, () => call("POST", "/", shipper, request(), headers)))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
    expect(answers[0]!.json[0].pickupStatus).toBe("Accept")
    const other = await call("POST", "/", shipper, request({ ready: "09:00:00.000" }), headers)
    expect([refusal(other), other.json.message]).toEqual([refused(400), expect.stringContaining("Idempotency-Key")])
    expect((await call("POST", "/", await acme.customer("other", []), request(), headers)).json[0].carrierPickupNumber).not.toBe(answers[0]!.json[0].carrierPickupNumber)
    for (const key of ["x".repeat(201), ""]) expect(refusal(await call("POST", "/", shipper, request(), { "idempotency-key": key }))).toEqual(refused(400))
  })

  it.each([
    ["nothing", {}, "isTest"],
    ["a member that is not there", { ...pickupRequest({ day }), customer: undefined }, "customer"],
    ["no address", { ...pickupRequest({ day }), pickupAddress: [] }, "pickupAddress"],
    ["another unit", { ...pickupRequest({ day }), weightUofM: "stone" }, "weightUofM"],
    ["hazardous freight without a contact", pickupRequest({ day, shipment: { hazmatCheck: true } }), "shipmentDetails.0.hazmatContactName"],
    ["a window that ends before it begins", pickupRequest({ day, ready: "17:00:00", close: "08:00:00" }), "closeTime"],
    ["a window that is over", pickupRequest({ day: "2020-11-20" }), "closeTime"],
    ["a number for a new pickup", { ...pickupRequest({ day }), carrierPickupNumber: "1" }, "carrierPickupNumber"],
    ["somebody else's account", pickupRequest({ day, orgAccountNumber: "A9" }), "pickupAddress.0.orgAccountNumber"],
    ["a list", [], ""],
    ["half of JSON", "{", "JSON"]
  ])("refuses %s with a message, and orders nothing", async (_what, body, place) => {
    const coil = await service.tenant("coil")
    const key = await coil.customer(`shipper-${Math.random()}`.slice(0, 20), ["A1"])
    const answer = await call("POST", "/", key, body)
    expect([refusal(answer), answer.json.message]).toEqual([refused(400), expect.stringContaining(place)])
    expectNothing(await look("041-8367745", key, { lookupType: "PRO" }))
  })

  it("checks size and media type before anything else", async () => {
    expect(refusal(await call("POST", "/", shipper, { ...request(), note: "x".repeat(5 * 1024 * 1024) }))).toEqual(refused(413))
    expect(refusal(await call("POST", "/", shipper, "{}", { "content-type": "text/plain" }))).toEqual(refused(415))
    expect(refusal(await call("PATCH", "/", shipper, {}))).toEqual(refused(405))
  })

  it("gives a test the same response as any other, and shows it to lookups of tests only", async () => {
    const answer = await call("POST", "/", shipper, request({ isTest: "TRUE", pro: "TEST-PRO" }))
    const number = answer.json[0].carrierPickupNumber
    expect([answer.json[0].pickupStatus, number]).toEqual(["Accept", expect.stringMatching(/^9999\d{8}$/)])
    expectNothing(await look(number))
    expectNothing(await look("TEST-PRO", shipper, { lookupType: "PRO" }))
    const seen = await look(number, shipper, { isTest: "true" })
    expect([seen.status, seen.json.pickupConfirmationId, seen.json.status]).toEqual([200, Number(number), "Accepted"])
  })
})

describe("looking up a pickup", () => {
  it("answers 200 with every member, numbers as integers, or null for letters (SPEC-GAP-C6)", async () => {
    const number = await order({ pro: "021-34" })
    const answer = await look(number)
    expect(answer.status).toBe(200)
    expect(answer.json).toEqual({
      pickupConfirmationId: Number(number),
      status: "Accepted",
      informationCode: { code: null, codeDescription: expect.any(String), subCode: null, subCodeDescription: null },
      stopEta: `${day}T08:00:00.000`,
      stopEtaTimeZone: "UTC-5",
      equipmentInformation: null,
      shipmentArray: [{
        proNumber: 2134,
        destinationPostalCode: null,
        destinationCountry: "CAN",
        handlingUnitQuantity: 2,
        weight: 1250,
        referenceNumbers: [{ referenceType: "PO", referenceValue: "0045001" }]
      }]
    })
  })

  it("answers text to a peer that asks for it (SPEC-GAP-C6)", async () => {
    const number = await order({ pro: "077-88" })
    const query = new URLSearchParams({ lookupValue: number, lookupType: "PickupConfirmationID", requestType: "PickupStatus", isTest: "false" })
    const asked = (integers: string) => service.send("GET", `/pickup/v1/pickups/?${query}`, { key: shipper, headers: { "x-waybill-integers": integers } })
    const { json } = await asked("false")
    expect([json.pickupConfirmationId, json.shipmentArray[0].proNumber, json.shipmentArray[0].destinationPostalCode]).toEqual([number, "077-88", "M5V 2T6"])
    expect((await asked("False")).json).toEqual(json)
    expect((await asked("TRUE")).json.pickupConfirmationId).toBe(Number(number))
    expect(await asked("no")).toMatchObject({ status: 400, json: { message: "X-Waybill-Integers is true or false." } })
  })

  it("accepts any spelling of a PRO, and parameters in any case; a requestType of Cancel cancels nothing", async () => {
    const number = await order({ pro: "AB-77 88" })
    const found = await look("ab7788", shipper, { lookupType: "pro", requestType: "CANCEL", isTest: "FALSE" })
    expect([found.status, found.json.pickupConfirmationId, found.json.status]).toEqual([200, Number(number), "Accepted"])
    expect((await look(number)).json.status).toBe("Accepted")
  })

  it.each([
    ["lookupValue", ""],
    ["lookupType", "BOL"],
    ["requestType", ""],
    ["isTest", "maybe"]
  ])("refuses without %s, or with %j in it", async (name, value) => {
    const all = { lookupValue: "1", lookupType: "PRO", requestType: "Status", isTest: "false" }
    const { [name as "isTest"]: _, ...without } = all
    for (const query of [without, { ...all, [name]: value }]) {
      const answer = await call("GET", `/?${new URLSearchParams(query)}`, shipper)
      expect([refusal(answer), answer.json.message]).toEqual([refused(400), expect.stringContaining(name)])
    }
    expect(refusal(await call("GET", "/?lookupValue=1&lookupValue=2&lookupType=PRO&requestType=Status&isTest=false", shipper))).toEqual(refused(400))
  })
})

describe("updating a pickup", () => {
  it.each(["", "/"])("answers 200 with the answer in an array, at the path with %j at its end", async (end) => {
    const number = await order()
    const answer = await call("PUT", `/${number}${end}`, shipper, request({ number, ready: "10:00:00.000" }))
    expect([answer.status, answer.json.length, answer.json[0].pickupStatus, answer.json[0].carrierPickupNumber]).toEqual([200, 1, "Accept", number])
    expect((await look(number)).json.stopEta).toBe(`${day}T10:00:00.000`)
  })

  it("requires ModifyExisting, one number in path and body, and a pickup that is not over", async () => {
    const number = await order()
    for (const body of [request(), { ...request({ number }), carrierPickupNumber: "1" }, { ...request({ number }), requestFunction: "NewPickup" }]) {
      expect(refusal(await call("PUT", `/${number}`, shipper, body))).toEqual(refused(400))
    }
    expect(refusal(await call("PUT", `/${number}`, shipper, "{"))).toEqual(refused(400))
    await call("DELETE", `/${number}`, shipper)
    const answer = await call("PUT", `/${number}`, shipper, request({ number, ready: "10:00:00.000" }))
    expect([refusal(answer), answer.json.message]).toEqual([refused(400), expect.stringContaining("Cancelled")])
  })
})

describe("cancelling a pickup", () => {
  it.each(["", "/"])("answers 200 without a body (SPEC-GAP-C31), and again, at the path with %j at its end", async (end) => {
    const number = await order()
    for (let n = 0; n < 2; n++) {
      const answer = await call("DELETE", `/${number}${end}`, shipper)
      expect([answer.status, answer.text, answer.headers.get("content-type")]).toEqual([200, "", null])
    }
    expect((await look(number)).json.status).toBe("Cancelled")
  })

  it("is possible until the driver has arrived", async () => {
    const number = await order()
    for (const status of ["En Route", "Arrived"]) expect((await report(number, { status })).status).toBe(200)
    const answer = await call("DELETE", `/${number}`, shipper)
    expect([refusal(answer), answer.json.message]).toEqual([refused(400), expect.stringContaining("Arrived")])
  })
})

describe("a pickup", () => {
  it("is visible to its client, to clients with an account it names, and to the carrier", async () => {
    const number = await order({ orgAccountNumber: "A1" })
    const sibling = await acme.customer("sibling", ["A1", "A2"])
    for (const key of [shipper, sibling, acme.carrier]) expect((await look(number, key)).status).toBe(200)
    expect((await call("PUT", `/${number}`, sibling, request({ number, orgAccountNumber: "A1", ready: "11:00:00" }))).status).toBe(200)
    expect((await call("DELETE", `/${number}`, sibling)).status).toBe(200)
  })

  it("needs credentials of a customer or carrier", async () => {
    const number = await order()
    const calls = [["POST", "/", request()], ["GET", "/?lookupValue=1&lookupType=PRO&requestType=Status&isTest=false"], ["PUT", `/${number}`, request({ number })], ["DELETE", `/${number}`]] as const
    for (const [method, path, body] of calls) {
      for (const key of [undefined, "wrong"]) expect(refusal(await call(method, path, key, body))).toEqual(refused(401))
      expect(refusal(await call(method, path, operatorKey, body))).toEqual(refused(403))
    }
  })

  it.each(["%00", "%F0%9F%98%80", "a%2Fb", "x".repeat(300), "..%2F..", "%20"])("gets 404 for a number such as %s", async (id) => {
    expectNothing(await call("DELETE", `/${id}`, shipper))
  })

  it("gets 404 without a body for an unknown path too (SPEC-GAP-C30)", async () => {
    expectNothing(await service.send("GET", "/pickup/v1/nothing", { key: shipper }))
  })
})
