/** Every area inside the transactions of every library. */
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { type Host, hosts } from "./Hosts.ts"
import { carrier, contents, customer, deliver, publishAll, rejected, type Service, startService, subscribeToAll } from "./Service.ts"

describe.each(hosts.map((hostOf) => ({ host: hostOf({ url: inject("pgUrl"), max: 3 }) })))("inside a transaction of $host.name", ({ host }: { readonly host: Host }) => {
  let service: Service

  beforeAll(async () => {
    service = await startService()
    await subscribeToAll(service)
  })
  afterAll(async () => {
    await host.close()
    await service.close()
  })

  it("a rollback leaves nothing, in any table", async () => {
    const before = await contents(service)
    let number: string | undefined
    const error = await rejected(host.transaction(async ({ send, within }) => {
      await send(`INSERT INTO ${service.own} VALUES ('R')`)
      number = await publishAll(service.waybill.within(within), "R")
      throw new Error("the host changed its mind")
    }))
    expect(error.message).toBe("the host changed its mind")
    expect(number).toEqual(expect.any(String))
    expect(await contents(service)).toEqual(before)
    expect(await deliver(service)).toEqual([])
  })

  it("a commit leaves everything once, and exactly one delivery per subscription", async () => {
    const { waybill } = service
    const number = await host.transaction(async ({ send, within }) => {
      await send(`INSERT INTO ${service.own} VALUES ('C')`)
      const tx = waybill.within(within)
      await tx.statusSubscriptions.subscribe(customer, { referenceNumbers: ["C"], webhookUrl: service.hook("/status") })
      const number = await publishAll(tx, "C")
      expect(await rejected(waybill.invoices.get(customer, "C")), "nobody sees it before the commit").toMatchObject({ status: 404 })
      return number
    })
    const arrived = await deliver(service)
    expect(arrived.map(({ path }) => path).sort()).toEqual(expect.arrayContaining(["/charges", "/events", "/status"]))
    const at = (path: string) => arrived.filter((each) => each.path === path).map(({ body }) => body)
    const events = at("/events").flatMap(({ events }) => events)
    expect(events.filter(({ eventId }) => eventId === "C-1")).toHaveLength(1)
    expect(new Set(events.map(({ eventId }) => eventId)).size).toBe(events.length)
    expect(at("/charges").flat().map(({ pfc }) => pfc.uniqueID)).toEqual(["C"])
    expect(at("/status").map((told) => told.shipmentMilestoneStatus)).toEqual(["Picked-up", "Out for Delivery"])
    expect(await deliver(service)).toEqual([])

    expect(await waybill.shipments.record(carrier, "C")).toMatchObject({ accounts: ["A"], shipment: { ShipmentMilestoneStatus: "Out for Delivery" } })
    expect(await waybill.invoices.get(customer, "C")).toMatchObject({ invoice: { uniqueID: "C", invoiceHeader: { invoiceAmount: { value: "263.78" } } } })
    const { data: papers } = await waybill.documents.list(customer, { invoiceNumber: "C" })
    expect(papers).toHaveLength(1)
    expect(await waybill.pickups.record(carrier, number)).toMatchObject({ carrierPickupNumber: number })
    const { rows } = await service.pool.query(`SELECT id FROM ${service.own}`)
    expect(rows).toEqual([{ id: "C" }])
  })

  it("existing objects are changed, read and ended as outside of it", async () => {
    const { waybill } = service
    const number = await host.transaction(({ within }) => publishAll(waybill.within(within), "L"))
    const mine = await waybill.subscriptions.create(carrier, { endpointUrl: service.hook("/mine"), hmacSecretId: "main" })
    const { transactionId } = await waybill.statusSubscriptions.subscribe(customer, { referenceNumbers: ["L"], webhookUrl: service.hook("/status") })
    const other = { ...customer, client: "other" }
    const charges = await waybill.chargeSubscriptions.create(other, { webhookUrl: service.hook("/more"), accounts: ["A"], dataOptions: {} })
    await host.transaction(async ({ within }) => {
      const tx = waybill.within(within)
      expect((await tx.subscriptions.list(carrier)).data).toEqual([mine])
      expect(await tx.subscriptions.patch(carrier, mine.id, { status: "paused" })).toEqual(expect.objectContaining({ id: mine.id, status: "paused" }))
      expect(await tx.subscriptions.get(carrier, mine.id)).toMatchObject({ status: "paused" })
      await tx.subscriptions.remove(carrier, mine.id)
      expect(await tx.statusSubscriptions.unsubscribe(customer, transactionId)).toMatchObject({ transactionId })
      expect(await tx.chargeSubscriptions.get(other, charges.subscriptionId)).toEqual(charges)
      expect((await tx.chargeSubscriptions.inFlight(other, charges.subscriptionId)).length).toBeGreaterThan(0)
      await tx.chargeSubscriptions.cancel(other, charges.subscriptionId)
      expect(await tx.pickups.report(carrier, number, { status: "En Route", stopEta: "2026-11-20T09:40:00" } as never)).toBeDefined()
      await tx.invoices.remove(carrier, "L")
      await tx.documents.remove(carrier, "L")
    })
    expect(await rejected(waybill.invoices.get(customer, "L"))).toMatchObject({ status: 404 })
    expect(await waybill.chargeSubscriptions.get(other, charges.subscriptionId)).toMatchObject({ status: "inactive" })
    expect(await rejected(waybill.subscriptions.get(carrier, mine.id))).toMatchObject({ code: "subscription_not_found" })
  })
})
