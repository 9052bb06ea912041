/** A host without types may pass `undefined` or the number of a row where a method takes an id. */
import { describe, expect, it } from "vitest"
import type { WaybillError } from "../../src/index.ts"
import { carrier, customer, HostTransaction, rejection, startWithTenant } from "./Host.ts"

describe("an id that is no text", () => {
  it("is refused by name, the same over any storage, also within a transaction of the host", async () => {
    const waybill = await startWithTenant()
    const within = waybill.within(new HostTransaction())
    const calls: ReadonlyArray<readonly [pointer: string, call: (id: never) => Promise<unknown>]> = [
      ["/uniqueID", (id) => waybill.invoices.get(customer, id)],
      ["/invoiceNumber", (id) => waybill.documents.get(customer, id)],
      ["/transactionId", (id) => waybill.statusSubscriptions.unsubscribe(customer, id)],
      ["/pickupId", (id) => within.pickups.cancel(customer, id)],
      ["/subscriptionId", (id) => within.subscriptions.patch(customer, id, {})],
      ["/subscriptionId", (id) => waybill.chargeSubscriptions.inFlight(customer, id)],
      ["/client", (id) => waybill.clients.delete("acme", id)],
      ["/deliveryId", (id) => waybill.deliveries.retry("acme", id)],
      ["/shipmentId", (id) => waybill.journeys.get("acme", id)],
      ["/hmacSecretId", (id) => waybill.portal.rotateSecret(customer, id)]
    ]
    for (const [pointer, call] of calls) {
      for (const id of [undefined, null, 7, {}]) {
        expect(await rejection(call(id as never))).toMatchObject({ code: "invalid_input", faults: [{ pointer, detail: expect.stringContaining("a text") }] })
      }
    }
    expect((await rejection(waybill.invoices.get(carrier, 7 as never))).message).toBe(
      "Invalid input: /uniqueID: The second argument of invoices.get is the uniqueID, a text. It got number."
    )
  })

  it("is refused as the caller of a public lookup", async () => {
    const waybill = await startWithTenant()
    const find = waybill.shipments.public as (caller?: unknown, by?: unknown) => Promise<unknown>
    for (const caller of [undefined, null, "acme", {}, { tenantId: 7 }, { tenantId: "acme", client: 7 }]) {
      expect(await rejection(find(caller, { kind: "pro", proNumber: "123" }))).toMatchObject({ code: "invalid_input", faults: [{ pointer: "/caller", detail: expect.stringContaining("tenantId") }] })
    }
  })

  it("is refused like the deletion of a tenant that nobody confirmed", async () => {
    const waybill = await startWithTenant()
    const remove = waybill.tenants.delete as (tenantId: string, options?: unknown) => Promise<void>
    for (const options of [undefined, null, {}]) {
      const error: WaybillError = await rejection(remove("acme", options))
      expect(error).toMatchObject({ code: "invalid_input", faults: [{ pointer: "/confirm" }] })
    }
    expect((await waybill.tenants.list()).data).toHaveLength(1)
  })
})
