/** The service with in-memory storage, and clients that call it over HTTP. */
import { makeStorage } from "@waybill/core"
import { createWaybill, toNodeHandler, type Waybill } from "@waybill/http"
import { StorageMemory } from "@waybill/testkit"
import { createServer, type RequestListener } from "node:http"
import type { AddressInfo } from "node:net"
import { onTestFinished } from "vitest"
import { FreightChargesClient } from "../src/freight-charges/index.ts"
import { IntakeClient } from "../src/intake/index.ts"
import { DocumentsClient, InvoicesClient } from "../src/invoices/index.ts"
import { OperatorClient } from "../src/operator/index.ts"
import { PortalClient } from "../src/portal/index.ts"
import { PickupsClient } from "../src/pickups/index.ts"
import { ShipmentStatusClient } from "../src/shipment-status/index.ts"

export const operatorKey = "operator-key-of-the-test"

/** Returns the address. The server closes when the test ends. */
export const listen = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => new Promise<void>((resolve) => {
    server.close(() => resolve())
    server.closeAllConnections()
  }))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

interface Key {
  readonly roles: ReadonlyArray<"carrier" | "customer">
  readonly accounts?: ReadonlyArray<string>
  readonly dot?: string
}

/** A tenant with two carriers, a shipper and a broker, and a client of every kind for each; optionally over real sockets. */
export const startService = async ({ sockets = false } = {}) => {
  const waybill: Waybill = globalThis.waybillOpenApi!.describedHandlers(createWaybill({
    storage: makeStorage({ layer: StorageMemory.layer, joined: () => (effect) => effect }),
    sealingKeys: [new Uint8Array(32).fill(7)],
    operatorKeys: [operatorKey],
    egressAllow: ["127.0.0.1"],
    log: () => {}
  }))
  onTestFinished(() => waybill.stop())
  const lost = { next: 0 }
  const fetch = async (url: string, init: RequestInit) => {
    const response = await (sockets ? globalThis.fetch(url, init) : waybill.handler(new Request(url, init)))
    if (lost.next-- > 0) throw new TypeError("fetch failed")
    return response
  }
  const baseUrl = sockets ? await listen(toNodeHandler(waybill)) : "https://waybill.test"
  const operator = new OperatorClient({ baseUrl, apiKey: operatorKey, fetch })
  await operator.putTenant("acme", { name: "Acme" })
  const calling = async (name: string, key: Key) => {
    const { key: apiKey } = await operator.createApiKey("acme", { name, ...key })
    const options = { baseUrl, apiKey, fetch, retry: { firstPauseMillis: 1 } } as const
    return {
      intake: new IntakeClient(options),
      shipments: new ShipmentStatusClient(options),
      charges: new FreightChargesClient(options),
      invoices: new InvoicesClient(options),
      documents: new DocumentsClient(options),
      pickups: new PickupsClient(options)
    }
  }
  return {
    waybill,
    /** How many of the next responses do not arrive. */
    lost,
    baseUrl,
    operator,
    /** The portal of a customer, with a link of the operator. */
    portalOf: async (client: string) => new PortalClient({ baseUrl, bearer: (await operator.createPortalLink("acme", { client })).token, fetch }),
    carrier: await calling("tms", { roles: ["carrier"] }),
    other: await calling("other", { roles: ["carrier"], dot: "999" }),
    shipper: await calling("shipper", { roles: ["customer"], accounts: ["4711"] }),
    broker: await calling("broker", { roles: ["customer"], accounts: ["0815"] }),
    anonymous: new ShipmentStatusClient({ baseUrl, fetch, retry: false })
  }
}
