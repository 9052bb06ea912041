import { beforeAll, describe, expect, it } from "vitest"
import { operatorKey, runningService } from "../TestService.ts"
import { movingShipment, reportedShipment } from "./ShipmentSamples.ts"

const service = await runningService()
const acme = await service.tenant("acme")
const rival = await service.tenant("rival")
const owner = await acme.customer("shop", ["A1"])
const stranger = await acme.customer("stranger", ["A9"])
await acme.register(movingShipment("S1", { accounts: ["A1"] }))

const get = (path: string, key?: string, headers: Readonly<Record<string, string>> = {}) =>
  service.send("GET", `/in-transit/v1/shipment/${path}`, { key, headers: { "x-request-id": "same", ...headers } })

const publicFields = ["ProNumber", "ShipmentMilestoneStatus", "UpdatedETA", "EstimatedStandardDay"]

const verifiedFields = [
  "ProNumber", "ReferenceNumbers", "UniqueID", "UpdatedPro", "PayType", "ShipType", "PickupAddress", "BillToAddress", "BillToAccountNumber",
  "ConsigneeAddress", "DESaccessorial", "DESLimitedAccess", "TimeCriticalType", "TimeCriticalInfo", "GrossWeight", "ShipmentMilestoneStatus",
  "ShipmentMilestoneStatusLong", "ShipmentTerminalInfo", "TimeZoneOfShipment", "UpdatedETA", "EstimatedStandardDay", "EstimatedDeliveryDate",
  "Reconsignment", "ShipmentShortage", "ShipmentDamage", "AllShortOrLostShipment", "Late", "AppointmentRequired", "CrossBorder"
]

/** The three ways to identify a shipment. */
const ways = (shipmentId: string) => [
  `pro/PRO-${shipmentId}`,
  `bol/BOL-${shipmentId}/60608`,
  `po/PO-${shipmentId}/02108`
]


describe("a verified lookup", () => {
  it("returns the caller's own shipment with every field, by PRO, BOL and PO", async () => {
    for (const way of ways("S1")) {
      const answer = await get(`${way}/verified`, owner)
      expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/json"])
      expect(Object.keys(answer.json)).toEqual(expect.arrayContaining(verifiedFields))
      expect(answer.json).toMatchObject({
        ProNumber: "PRO-S1",
        ShipmentMilestoneStatus: "In Transit",
        DESaccessorial: [],
        DESLimitedAccess: null,
        TimeCriticalInfo: {},
        ShipmentTerminalInfo: { TerminalID: null },
        Late: false,
        UpdatedETA: "2026-11-21",
        EstimatedDeliveryDate: "2026-11-21",
        GrossWeight: 1840
      })
      expect(Object.keys(answer.json)).not.toContain("shipmentId")
    }
  })

  it("answers 202 with four fields to callers without access", async () => {
    for (const way of ways("S1")) {
      const answer = await get(`${way}/verified`, stranger)
      expect([answer.status, answer.text]).toEqual([
        202,
        "{\"ProNumber\":\"PRO-S1\",\"ShipmentMilestoneStatus\":\"In Transit\",\"UpdatedETA\":\"2026-11-21\",\"EstimatedStandardDay\":3}"
      ])
    }
  })

  it("returns every shipment of the tenant to carriers, also those without accounts", async () => {
    await acme.register(movingShipment("NOBODYS"))
    expect((await get("pro/PRO-NOBODYS/verified", acme.carrier)).status).toBe(200)
    expect((await get("pro/PRO-NOBODYS/verified", owner)).status).toBe(202)
  })

  it("answers 404 before the shipment is picked up, and finds it afterwards, also when it is delivered (SPEC-GAP-A33)", async () => {
    await acme.register(reportedShipment("EARLY", { accounts: ["A1"] }))
    expect((await get("pro/PRO-EARLY/verified", owner)).status).toBe(404)
    await acme.update({ shipmentId: "EARLY", shipmentMilestoneStatus: "Picked-up", occurredAt: "2026-11-18T20:00:00Z" })
    const answer = await get("pro/PRO-EARLY/verified", owner)
    expect([answer.status, answer.json.ShipmentMilestoneStatus]).toEqual([200, "Picked-up"])
    await acme.update({ shipmentId: "EARLY", shipmentMilestoneStatus: "Delivered", occurredAt: "2026-11-19T20:00:00Z" })
    const delivered = await get("pro/PRO-EARLY/verified", owner)
    expect([delivered.status, delivered.json.ShipmentMilestoneStatus]).toEqual([200, "Delivered"])
  })

  it("ignores case, blanks, hyphens and everything after the first five digits of a ZIP code", async () => {
    for (const way of ["pro/pro%20s1", "pro/PROS1", "bol/bol-s1/60608-9999", "bol/BOL%20S1/606081000", "po/po%20s1/02108"]) {
      expect([way, (await get(`${way}/verified`, owner)).status]).toEqual([way, 200])
    }
    expect((await get("bol/BOL-S1/60609/verified", owner)).status).toBe(404)
  })

  it("decodes each path segment separately, so that numbers may contain slashes", async () => {
    const numbers = { bolNumber: "B/7 1", QuoteID: null, ShipmentID: null, MasterBOL: null, poNumber: "P/9%", AdditionalReferences: null, trailerNumber: null }
    await acme.register(movingShipment("SLASHED", { accounts: ["A1"], ReferenceNumbers: numbers }))
    expect((await get(`bol/${encodeURIComponent("B/7 1")}/60608/verified`, owner)).json.ProNumber).toBe("PRO-SLASHED")
    expect((await get(`po/${encodeURIComponent("P/9%")}/02108/verified`, owner)).json.ProNumber).toBe("PRO-SLASHED")
    expect((await get("bol/B/7/60608/verified", owner)).status).toBe(404)
  })

  it("prefers the caller's own among several shipments, otherwise the one picked up last", async () => {
    const shared = { bolNumber: "SHARED", QuoteID: null, ShipmentID: null, MasterBOL: null, poNumber: "SHARED", AdditionalReferences: null, trailerNumber: null }
    await acme.register(
      movingShipment("OLD", { accounts: ["A1"], ReferenceNumbers: shared, pickupDate: "2026-11-01T00:00:00Z" }),
      movingShipment("NEW", { accounts: ["A2"], ReferenceNumbers: shared, pickupDate: "2026-11-10T00:00:00Z" })
    )
    const proOf = async (key: string) => (await get("bol/SHARED/60608/verified", key)).json.ProNumber
    expect([await proOf(owner), await proOf(stranger), await proOf(acme.carrier)]).toEqual(["PRO-OLD", "PRO-NEW", "PRO-NEW"])
  })

  it("requires valid credentials, and refuses an operator's", async () => {
    for (const key of [undefined, "wrong", operatorKey]) {
      const answer = await get("pro/PRO-S1/verified", key)
      expect([key, answer.status, Object.keys(answer.json)]).toEqual([key, 401, ["message"]])
      expect(answer.headers.get("www-authenticate")).toMatch(/^Bearer realm="waybill"/)
    }
  })

  it.each(["%00", "%20", "-", "..", "%F0%9F%98%80", "__proto__", "x".repeat(3000), "'; DROP TABLE shipments; --", "%ED%A0%80"])(
    "refuses or does not find %s, and never fails",
    async (text) => {
      for (const path of [`pro/${text}`, `bol/${text}/60608`, `bol/BOL-S1/${text}`, `po/PO-S1/${text}`]) {
        for (const form of ["verified", "public"]) {
          const answer = await get(`${path}/${form}`, owner)
          expect([path, answer.status >= 400 && answer.status < 500, answer.headers.get("content-type")]).toEqual([path, true, "application/json"])
          expect(Object.keys(answer.json)).toEqual(["message"])
        }
      }
    }
  )
})

describe("an account's shipments by pickup date", () => {
  const range = (account: string, from: string, to: string, key?: string) =>
    get(`po/${encodeURIComponent(account)}/${encodeURIComponent(from)}/${encodeURIComponent(to)}/verified`, key)

  let ranger = ""
  beforeAll(async () => {
    await acme.register(
      movingShipment("R1", { accounts: ["A 5/5"], pickupDate: "2026-10-01T00:00:00Z" }),
      movingShipment("R2", { accounts: ["A 5/5", "A6"], pickupDate: "2026-10-02T23:59:59.999Z" }),
      movingShipment("R3", { accounts: ["A6"], pickupDate: "2026-10-02T12:00:00Z" }),
      reportedShipment("R4", { accounts: ["A 5/5"], pickupDate: "2026-10-02T12:00:00Z" })
    )
    ranger = await acme.customer("ranger", ["A 5/5", "A7"])
  })

  it("are an array by pickup time, with an inclusive range of dates or times with an offset", async () => {
    const idsOf = async (from: string, to: string) => {
      const answer = await range("A 5/5", from, to, ranger)
      return answer.status === 204 ? [] : answer.json.map((each: { ProNumber: string }) => each.ProNumber)
    }
    expect(await idsOf("2026-10-01", "2026-10-02")).toEqual(["PRO-R1", "PRO-R2"])
    expect(await idsOf("2026-10-01T00:00:00Z", "2026-10-02T23:59:59.999Z")).toEqual(["PRO-R1", "PRO-R2"])
    expect(await idsOf("2026-10-01T02:00:00+02:00", "2026-10-01T02:00:00+02:00")).toEqual(["PRO-R1"])
    expect(await idsOf("2026-10-01T00:00:00.001Z", "2026-10-02T23:59:59.998Z")).toEqual([])
  })

  it("accept offsets in the path, encoded or not", async () => {
    expect((await get("po/A7/2026-10-01T00:00:00+02:00/2026-10-02T00:00:00+02:00/verified", ranger)).status).toBe(204)
  })

  it("get 204 when nothing was picked up", async () => {
    const answer = await range("A7", "2026-10-01", "2026-10-02", ranger)
    expect([answer.status, answer.text, answer.headers.get("content-type")]).toEqual([204, "", null])
  })

  it("get 401 for an account of another client, and 404 for an unknown one", async () => {
    const foreign = await range("A6", "2026-10-01", "2026-10-02", ranger)
    expect([foreign.status, Object.keys(foreign.json), foreign.headers.get("www-authenticate")]).toEqual([401, ["message"], "Bearer realm=\"waybill\""])
    const unknown = await range("A404", "2026-10-01", "2026-10-02", ranger)
    expect([unknown.status, Object.keys(unknown.json)]).toEqual([404, ["message"]])
    expect((await range("A6", "2026-10-01", "2026-10-02")).status).toBe(401)
  })

  it("are returned to carriers for any account of their tenant, and none of another", async () => {
    expect((await range("A6", "2026-10-01", "2026-10-02", acme.carrier)).json.length).toBe(2)
    expect((await range("A404", "2026-10-01", "2026-10-02", acme.carrier)).status).toBe(404)
    expect((await range("A6", "2026-10-01", "2026-10-02", rival.carrier)).status).toBe(404)
  })

  it.each([
    ["2026-10-03", "2026-10-02", "startDate"],
    ["yesterday", "2026-10-02", "startDate"],
    ["2026-10-01", "2026-02-30", "endDate"],
    ["2026-10-01T00:00:00", "2026-10-02", "startDate"],
    ["2026-10-01", "%00", "endDate"]
  ])("refuses %s to %s and names what is wrong", async (from, to, name) => {
    const answer = await range("A7", from, to, ranger)
    expect([answer.status, answer.json.message]).toEqual([400, expect.stringContaining(name)])
  })
})

describe("paths of the area", () => {
  it("answer 404 and 405 in the area's own format, and OPTIONS with the allowed methods", async () => {
    const nowhere = await get("pro/1/2/3", owner)
    expect([nowhere.status, Object.keys(nowhere.json), nowhere.headers.get("content-type")]).toEqual([404, ["message"], "application/json"])
    const wrong = await service.send("POST", "/in-transit/v1/shipment/pro/1/verified", { key: owner, body: {} })
    expect([wrong.status, wrong.headers.get("allow"), Object.keys(wrong.json)]).toEqual([405, "GET, HEAD, OPTIONS", ["message"]])
    expect((await service.send("OPTIONS", "/in-transit/v1/notifications/subscribe")).headers.get("allow")).toBe("POST, OPTIONS")
  })

  it("refuse a long URL in the same format", async () => {
    const answer = await get(`pro/${"x".repeat(9000)}/verified`, owner)
    expect([answer.status, Object.keys(answer.json)]).toEqual([414, ["message"]])
  })

  it("answer HEAD like GET, without the body", async () => {
    const head = await service.send("HEAD", "/in-transit/v1/shipment/pro/PRO-S1/verified", { key: acme.carrier })
    expect([head.status, head.text]).toEqual([200, ""])
  })

  it("return exactly four fields in every public response", async () => {
    for (const way of ways("S1")) {
      const answer = await get(`${way}/public`, stranger)
      expect([answer.status, Object.keys(answer.json)]).toEqual([200, publicFields])
    }
  })
})
