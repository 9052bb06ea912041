/** A host with the service in memory, and a webhook receiver. */
import { makeStorage, type WaybillStorage } from "@waybill/core"
import { StorageMemory } from "@waybill/testkit"
import { Effect } from "effect"
import { createServer, type IncomingMessage } from "node:http"
import { expect, onTestFinished } from "vitest"
import { createWaybill, type HostPrincipal, type Waybill, WaybillError, WaybillHttp, type WaybillOptions } from "../../src/index.ts"
import { listening } from "../listening.ts"
import { descriptionOf } from "../openapi/ApiDescription.ts"
import { describedHandlers } from "../openapi/described.ts"

export const sealingKey = new Uint8Array(32).fill(7)
export const carrier: HostPrincipal = { tenantId: "acme", client: "tms", roles: ["carrier"] }
export const customer: HostPrincipal = { tenantId: "acme", client: "shop", roles: ["customer"], accounts: ["A1"] }

/** Memory storage with host transactions that can be rolled back: a promise decides. */
export const memory = (): WaybillStorage<HostTransaction> =>
  makeStorage<HostTransaction>({
    layer: StorageMemory.layer,
    joined: (tx) => (effect) => {
      if (!(tx instanceof HostTransaction)) return Effect.die(new TypeError("This is no transaction of the host."))
      tx.joined += 1
      return effect
    }
  })

export class HostTransaction {
  joined = 0
}

/** Stopped at the end of the test. */
export const start = (options: Partial<WaybillOptions<HostTransaction>> = {}): Waybill<HostTransaction> => {
  const { basePaths, publicBaseUrl, securitySchemes } = options
  const waybill = describedHandlers(
    createWaybill({ storage: memory(), sealingKeys: [sealingKey], log: () => {}, ...options }),
    descriptionOf(JSON.stringify(WaybillHttp.openApi({ basePaths, ...(publicBaseUrl === undefined ? {} : { publicBaseUrl: new URL(publicBaseUrl).origin }), ...(securitySchemes === undefined ? {} : { securitySchemes }) })))
  )
  onTestFinished(() => waybill.stop())
  return waybill
}

/** The same with the tenant of `carrier` and `customer`. */
export const startWithTenant = async (options?: Parameters<typeof start>[0]) => {
  const waybill = start(options)
  await waybill.tenants.put("acme", { name: "Acme" })
  return waybill
}

export interface Received {
  readonly headers: IncomingMessage["headers"]
  readonly body: string
}

export const startReceiver = async () => {
  const received: Array<Received> = []
  const waiting: Array<() => void> = []
  const server = createServer((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (chunk: string) => void (body += chunk)).on("end", () => {
      received.push({ headers: request.headers, body })
      response.end()
      for (const done of waiting.splice(0)) done()
    })
  })
  const url = `${await listening(server)}/hook`
  const until = async (count: number) => {
    while (received.length < count) await new Promise<void>((resolve) => waiting.push(resolve))
    return received
  }
  return { url, received, until }
}

export const rejection = async (call: Promise<unknown>): Promise<WaybillError> => {
  const error = await call.then(() => undefined, (reason: unknown) => reason)
  expect(error).toBeInstanceOf(WaybillError)
  return error as WaybillError
}
