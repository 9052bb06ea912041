import { PickupDesk } from "@waybill/core/pickups"
import { pickupRequest, TestWaybill } from "@waybill/testkit"
import { Layer } from "effect"
import { describe, expect, it } from "vitest"
import { operatorKey, problemCode, readOnlyKey, runningService } from "../TestService.ts"

const day = `${new Date().getUTCFullYear() + 1}-11-20`

const service = await runningService({ waybill: TestWaybill.layer().pipe(Layer.provide(Layer.succeed(PickupDesk, { waitMillis: 0 }))) })
const acme = await service.tenant("acme")
const shipper = await acme.customer("shipper", ["A1"])

const order = async (request: object = {}): Promise<string | null> =>
  (await service.send("POST", "/pickup/v1/pickups", { key: shipper, body: { ...pickupRequest({ day }), ...request } })).json[0].carrierPickupNumber

const list = (query = "", key = operatorKey) => service.send("GET", `/operator/v1/tenants/acme/pickups${query}`, { key })

const waiting = async (): Promise<any> => (await list("?state=waiting")).json.data.at(-1)

const decide = (pickupId: string, body: unknown, key = operatorKey, tenantId = "acme") =>
  service.send("POST", `/operator/v1/tenants/${tenantId}/pickups/${pickupId}/decision`, { key, body })

describe("the pickups of a tenant for operators", () => {
  it("lists those that wait, the oldest order first, and all, the latest order first, in pages", async () => {
    await order()
    await order()
    const test = await order({ isTest: "True" })
    const page = await list("?state=waiting")
    expect([page.status, page.json.nextCursor]).toEqual([200, null])
    const [first, second] = page.json.data
    expect(page.json.data).toHaveLength(2)
    expect(first).toMatchObject({
      confirmationNumber: null,
      status: "Call us",
      client: "key:shipper",
      isTest: false,
      waitingFor: "order",
      waitingSince: first.orderedAt,
      carrier: { carrierName: null, scac: null },
      readyWindow: { readyDate: expect.stringContaining(day) },
      origin: { city: expect.any(String) }
    })
    const all = (await list()).json.data
    expect(all.map(({ confirmationNumber, isTest, pickupId }: any) => isTest ? confirmationNumber : pickupId)).toEqual([test, second.pickupId, first.pickupId])
    expect(all[0].waitingFor).toBeNull()
    const start = (await list("?state=waiting&limit=1")).json
    expect([start.data, start.nextCursor]).toEqual([[first], first.pickupId])
    expect((await list(`?state=waiting&limit=1&cursor=${start.nextCursor}`)).json).toEqual({ data: [second], nextCursor: null })
    expect((await list("", readOnlyKey)).status).toBe(200)
    for (const [query, parameter] of [["?state=decided", "state"], ["?cursor=none", "cursor"], ["?limit=501", "limit"]] as const) {
      expect((await list(query)).json.errors[0]).toMatchObject({ parameter })
    }
    await service.tenant("beta")
    expect((await service.send("GET", "/operator/v1/tenants/beta/pickups", { key: operatorKey })).json).toEqual({ data: [], nextCursor: null })
    expect((await service.send("GET", "/operator/v1/tenants/nowhere/pickups", { key: operatorKey })).status).toBe(404)
  })

  it("decides once, records the operator in the history and in the audit log, and lists the pickup as decided", async () => {
    await order()
    const { pickupId } = await waiting()
    const decision = { decision: "accept", confirmationNumber: "C-77", scac: "abcd", carrierName: "ABC Lines", message: "See you." }
    const taken = await decide(pickupId, decision)
    expect([taken.status, taken.json]).toEqual([200, { result: "accepted", pickupId, carrierPickupNumber: "C-77", status: "Accepted" }])
    const again = await decide(pickupId, decision)
    expect([again.status, problemCode(again)]).toEqual([409, "pickup_decided"])
    const listed = (await list()).json.data.find((each: any) => each.pickupId === pickupId)
    expect(listed).toMatchObject({ confirmationNumber: "C-77", status: "Accepted", waitingFor: null, waitingSince: null, carrier: { carrierName: "ABC Lines", scac: "ABCD" } })
    expect((await list("?state=waiting")).json.data.map((each: any) => each.pickupId)).not.toContain(pickupId)
    const { history } = (await service.send("GET", `/intake/v1/pickups/${pickupId}`, { key: acme.carrier })).json
    expect(history.map(({ by, what }: any) => [by, what])).toEqual([["key:shipper", "ordered"], ["operator", "decided"]])
    const audit = (await service.send("GET", "/operator/v1/audit?tenant=acme", { key: operatorKey })).json.data
    expect(audit.filter(({ action, object }: any) => action === "pickup.decide-for-carrier" && object.id === pickupId).map(({ actor, status }: any) => [actor.name, status]))
      .toEqual([["operator", 409], ["operator", 200]])
  })

  it("shows the window of a change that waits, and rejects the change", async () => {
    await order()
    const { pickupId } = await waiting()
    const number = (await decide(pickupId, { decision: "accept" })).json.carrierPickupNumber
    const later = `${new Date().getUTCFullYear() + 1}-11-21`
    const change = { ...pickupRequest({ day: later }), requestFunction: "ModifyExisting", carrierPickupNumber: number }
    await service.send("PUT", `/pickup/v1/pickups/${number}`, { key: shipper, body: change })
    const listed = (await list("?state=waiting")).json.data.find((each: any) => each.pickupId === pickupId)
    expect(listed).toMatchObject({ confirmationNumber: number, status: "Accepted", waitingFor: "change", readyWindow: { readyDate: expect.stringContaining(later) } })
    expect((await decide(number, { decision: "reject" })).json).toMatchObject({ pickupId, status: "Accepted" })
    const kept = (await list()).json.data.find((each: any) => each.pickupId === pickupId)
    expect(kept).toMatchObject({ waitingFor: null, readyWindow: { readyDate: expect.stringContaining(day) } })
  })

  it("refuses a read-only operator, a wrong decision, and the pickup of another tenant, and changes nothing", async () => {
    await order()
    const { pickupId } = await waiting()
    const readOnly = await decide(pickupId, { decision: "accept" }, readOnlyKey)
    expect([readOnly.status, problemCode(readOnly)]).toEqual([403, "operator_read_only"])
    const wrong = await decide(pickupId, { decision: "perhaps" })
    expect([wrong.status, wrong.json.errors[0].pointer]).toEqual([400, "/decision"])
    await service.tenant("gamma")
    const foreign = await decide(pickupId, { decision: "accept" }, operatorKey, "gamma")
    expect([foreign.status, problemCode(foreign)]).toEqual([404, "pickup_not_found"])
    expect((await decide(pickupId, { decision: "accept" }, operatorKey, "nowhere")).status).toBe(404)
    expect(await waiting()).toMatchObject({ pickupId, waitingFor: "order" })
  })
})
