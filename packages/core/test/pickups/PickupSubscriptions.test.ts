/** Carriers' webhooks for the changes of pickups, on the whole service with a virtual clock. */
import { pickupRequest, type StartedTestWaybill, startTestWaybill } from "@waybill/testkit"
import { describe, expect, it } from "vitest"

const start = async (options: Parameters<typeof startTestWaybill>[0] = {}) => {
  const waybill = await startTestWaybill(options)
  const numbered = (client: string, dot: string): StartedTestWaybill["carrier"] => ({ tenantId: waybill.tenantId, client, roles: ["carrier"], dot })
  const url = (caller: { readonly client: string }) => `https://${caller.client}.example/pickups`
  const settings = (caller: { readonly client: string }) => ({ topics: ["pickups"] as const, endpointUrl: url(caller), hmacSecretId: waybill.hmacSecretId })
  const subscribe = (caller: StartedTestWaybill["carrier"]) => waybill.pickupSubscriptions.create(caller, settings(caller))
  const sent = (caller: { readonly client: string }) => waybill.receiver(url(caller)).received.map(({ body }) => body as any)
  const order = async (pro = "P-1") => (await waybill.pickups.create(waybill.shipper, pickupRequest({ pro }) as never))[0]!
  return { waybill, numbered, settings, subscribe, sent, order }
}

const entries = (bodies: ReadonlyArray<any>) => bodies.flatMap(({ pickups }) => pickups.map(({ change, status }: any) => `${change} ${status}`))

describe("a carrier's subscription to pickups", () => {
  it("is sent every change, in order, as the work list has it", async () => {
    const { order, sent, subscribe, waybill } = await start()
    await subscribe(waybill.carrier)
    const number = (await order()).carrierPickupNumber!
    await waybill.pickups.report(waybill.carrier, number, { status: "En Route" })
    await waybill.pickups.cancel(waybill.shipper, number)
    const bodies = sent(waybill.carrier)
    expect(Object.keys(bodies[0])).toEqual(["deliveryId", "sentAt", "pickups"])
    expect(bodies.flatMap(({ pickups }) => pickups)).toEqual((await waybill.pickups.changes(waybill.carrier)).data)
    expect(entries(bodies)).toEqual(["ordered Accepted", "status En Route", "cancelled Cancelled"])
  })

  it("decides what it was sent while the order waits", async () => {
    const { order, sent, subscribe, waybill } = await start({ pickupDesk: { waitSeconds: 20 } })
    await subscribe(waybill.carrier)
    const ordered = order()
    await waybill.advance("1 second")
    const [{ pickups: [waiting] }] = sent(waybill.carrier)
    expect(waiting).toMatchObject({ change: "ordered", confirmationNumber: null, status: "Call us" })
    await waybill.pickups.decide(waybill.carrier, waiting.pickupId, { decision: "accept", confirmationNumber: "C-1", scac: "WAYB", carrierName: "Waybill Freight" })
    expect(await ordered).toMatchObject({ pickupStatus: "Accept", carrierPickupNumber: "C-1", scac: "WAYB", carrierName: "Waybill Freight" })
    expect(entries(sent(waybill.carrier))).toEqual(["ordered Call us", "decided Accepted"])
  })

  it("is answered Call us when the virtual clock passes the wait", async () => {
    const { order, waybill } = await start({ pickupDesk: { waitSeconds: 20 } })
    const ordered = order()
    await waybill.advance("20 seconds")
    expect(await ordered).toMatchObject({ pickupStatus: "Call us", carrierPickupNumber: null })
  })

  it("is not sent what another carrier has decided, also if it waited then", async () => {
    const { numbered, order, sent, subscribe, waybill } = await start()
    const [one, two] = [numbered("one", "1"), numbered("two", "2")]
    await subscribe(one)
    const { id } = await subscribe(two)
    await waybill.pickupSubscriptions.patch(two, id, { status: "paused" })
    const number = (await order("P-1")).carrierPickupNumber!
    await order("P-2")
    await waybill.pickups.report(one, number, { status: "En Route" })
    await waybill.pickupSubscriptions.patch(two, id, { status: "active" })
    await waybill.advance("1 minute")
    expect(entries(sent(one))).toEqual(["ordered Accepted", "ordered Accepted", "status En Route"])
    expect(sent(two).flatMap(({ pickups }) => pickups.map(({ request }: any) => request.shipmentDetails[0].proNumber))).toEqual(["P-2"])
  })

  it("is its client's, and carriers' alone", async () => {
    const { numbered, settings, subscribe, waybill } = await start()
    const created = await subscribe(waybill.carrier)
    expect(created).toMatchObject({ topics: ["pickups"], status: "active", delivery: { batchMaxSize: expect.any(Number) } })
    const rival = numbered("rival", "9")
    const { pickupSubscriptions } = waybill
    for (const call of [
      () => pickupSubscriptions.get(rival, created.id),
      () => pickupSubscriptions.patch(rival, created.id, { status: "paused" }),
      () => pickupSubscriptions.remove(rival, created.id)
    ]) await expect(call()).rejects.toMatchObject({ status: 404, code: "subscription_not_found" })
    await expect(pickupSubscriptions.create(waybill.shipper, settings(waybill.shipper))).rejects.toMatchObject({ code: "not_permitted" })
    await expect(pickupSubscriptions.list(waybill.carrier, { cursor: "x" })).rejects.toMatchObject({ code: "invalid_input" })
    await expect(pickupSubscriptions.list(waybill.shipper)).rejects.toMatchObject({ code: "not_permitted" })
    expect((await pickupSubscriptions.list(waybill.carrier)).data).toEqual([created])
    expect((await pickupSubscriptions.list(rival)).data).toEqual([])
    await pickupSubscriptions.remove(waybill.carrier, created.id)
    await pickupSubscriptions.remove(waybill.carrier, created.id)
    await expect(pickupSubscriptions.get(waybill.carrier, created.id)).rejects.toMatchObject({ status: 404 })
  })

  it("names each fault of its settings", async () => {
    const { settings, waybill } = await start()
    const good = settings(waybill.carrier)
    for (const [body, pointer] of [
      [{ ...good, topics: ["invoices"] }, "/topics/0"],
      [{ ...good, topics: [] }, "/topics"],
      [{ ...good, hmacSecretId: "unknown" }, "/hmacSecretId"],
      [{ ...good, endpointUrl: "ftp://x.example" }, "/endpointUrl"],
      [{ ...good, filters: {} }, "/filters"]
    ] as const) {
      await expect(waybill.pickupSubscriptions.create(waybill.carrier, body as never)).rejects.toMatchObject({ code: "invalid_input", faults: [{ pointer }] })
    }
  })

  it("is an operator's to see, pause and remove, and its client cannot resume it then", async () => {
    const { order, sent, subscribe, waybill } = await start()
    const { id } = await subscribe(waybill.carrier)
    const { allSubscriptions, tenantId } = waybill
    expect(await allSubscriptions.get(tenantId, id)).toMatchObject({ area: "pickups", filters: { topics: ["pickups"] }, state: "active" })
    await allSubscriptions.pause(tenantId, id, "The receiver moves.")
    await order()
    expect(sent(waybill.carrier)).toEqual([])
    await expect(waybill.pickupSubscriptions.patch(waybill.carrier, id, { status: "active" })).rejects.toMatchObject({ status: 409 })
    await waybill.advance("1 hour")
    await allSubscriptions.resume(tenantId, id)
    expect((await waybill.pickupSubscriptions.get(waybill.carrier, id)).updatedAt).toBe(waybill.now().toISOString())
    await waybill.advance("1 second")
    expect(entries(sent(waybill.carrier))).toEqual(["ordered Accepted"])
    await allSubscriptions.remove(tenantId, id)
    await expect(waybill.pickupSubscriptions.get(waybill.carrier, id)).rejects.toMatchObject({ status: 404 })
  })

  it("is explained by pickup, PRO and shipment: delivered, waiting, dropped, and why it was not matched or not visible", async () => {
    const { numbered, order, subscribe, waybill } = await start()
    const [one, two] = [numbered("one", "1"), numbered("two", "2")]
    const early = (await order("P-0")).carrierPickupNumber!
    await waybill.advance("1 minute")
    const { id } = await subscribe(one)
    const { allSubscriptions, tenantId } = waybill
    const explain = async (subject: Parameters<typeof allSubscriptions.explain>[2]) => {
      const { deliveries, reasons, verdict, waitingFor } = await allSubscriptions.explain(tenantId, id, subject)
      return [verdict, waitingFor, reasons[0]?.rule, deliveries.map(({ state }) => state)]
    }
    const before = ["before_subscription", null, "createdAt", []]
    expect([await explain({ pickupId: early }), await explain({ pro: "P-0" })]).toEqual([before, before])
    const number = (await order("P-1")).carrierPickupNumber!
    const delivered = ["delivered", null, undefined, ["delivered"]]
    const { pickupId } = await waybill.pickups.record(waybill.carrier, number)
    for (const subject of [{ pickupId: number }, { pickupId }, { pro: "P-1" }, { shipmentId: "P-1" }]) expect(await explain(subject)).toEqual(delivered)
    const test = (await waybill.pickups.create(waybill.shipper, pickupRequest({ pro: "P-2", isTest: "True" }) as never))[0]!.carrierPickupNumber!
    expect(await explain({ pickupId: test })).toEqual(["not_matched", null, "isTest", []])
    await allSubscriptions.pause(tenantId, id, "The receiver moves.")
    const foreign = (await order("P-3")).carrierPickupNumber!
    expect(await explain({ pickupId: foreign })).toEqual(["waiting", "paused", "state", []])
    await waybill.pickups.report(two, foreign, { status: "En Route" })
    await allSubscriptions.resume(tenantId, id)
    await waybill.advance("1 minute")
    expect(await explain({ pickupId: foreign })).toEqual(["dropped", null, "dropped", []])
    await allSubscriptions.remove(tenantId, id)
    const late = await subscribe(one)
    const unseen = await allSubscriptions.explain(tenantId, late.id, { pickupId: foreign })
    expect([unseen.verdict, unseen.reasons[0]!.actual]).toEqual(["not_visible", expect.stringContaining("dot 2")])
    await expect(allSubscriptions.explain(tenantId, late.id, { pickupId: "none" })).rejects.toMatchObject({ code: "pickup_not_found", status: 404 })
    await expect(allSubscriptions.explain(tenantId, late.id, { pickupId: number, pro: "P-1" } as never)).rejects.toMatchObject({ status: 400 })
  })

  it("is sent past changes again by a replay, and dead letters by a recovery", async () => {
    const { order, sent, settings, waybill } = await start()
    const { deliveries, tenantId } = waybill
    const number = (await order()).carrierPickupNumber!
    await waybill.advance("1 minute")
    const since = new Date((await waybill.pickups.changes(waybill.carrier)).data[0]!.at)
    await waybill.pickups.cancel(waybill.shipper, number)
    const { id } = await waybill.pickupSubscriptions.create(waybill.carrier, { ...settings(waybill.carrier), delivery: { maxAttempts: 1 } })
    expect(await deliveries.replay(tenantId, id, { from: since, to: new Date(since.getTime() + 1) })).toBe(1)
    await waybill.advance("1 second")
    expect(await deliveries.replay(tenantId, id, { from: since })).toBe(2)
    await waybill.advance("1 second")
    expect(entries(sent(waybill.carrier))).toEqual(["ordered Accepted", "ordered Accepted", "cancelled Cancelled"])
    await expect(deliveries.replay(tenantId, id, { from: since, shipmentIds: ["S"] })).rejects.toMatchObject({ status: 400 })

    waybill.receiver(settings(waybill.carrier).endpointUrl).answers(500)
    await order("P-2")
    await waybill.advance("1 second")
    expect((await waybill.allSubscriptions.get(tenantId, id)).dead).toBe(1)
    waybill.receiver(settings(waybill.carrier).endpointUrl).answers(200)
    expect(await deliveries.recover(tenantId, id, since)).toBe(1)
    await waybill.advance("1 minute")
    expect(await waybill.allSubscriptions.explain(tenantId, id, { pro: "P-2" })).toMatchObject({ verdict: "delivered" })
  })
})
