/** This service as the implementation under test, in memory, with everything that the rules need. */
import { OperatorClient } from "@waybill/client"
import { createWaybill, toNodeHandler } from "@waybill/http"
import { memoryStorage } from "@waybill/testkit"
import { randomBytes, randomUUID } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Fixtures } from "../../../../src/commands/check/api/Fixtures.ts"
import type { Area } from "../../../../src/commands/check/api/Rule.ts"
import type { Target } from "../../../../src/commands/check/api/RunRules.ts"
import { seedThroughIntake } from "../../../../src/commands/check/api/Seed.ts"
import { type Callback, openCallback } from "../../../../src/commands/check/Callback.ts"

export const basesOf = (url: string): Readonly<Record<Area, string>> => ({
  a: `${url}/in-transit/v1`,
  b: `${url}/invoicing`,
  c: `${url}/pickup`,
  d: `${url}/visibility`,
  e: `${url}/pfc`
})

/** A running server with one tenant. `clients` makes new ones, with accounts of their own. */
export const startApi = async () => {
  const operatorKey = randomBytes(24).toString("hex")
  const waybill = createWaybill({
    storage: memoryStorage(),
    apiKeys: true,
    operatorKeys: [operatorKey],
    sealingKeys: [new Uint8Array(randomBytes(32))],
    egressAllow: ["127.0.0.1"],
    othersLookupsPerMinute: 100_000,
    delivery: { pollMillis: 50 },
    log: () => {}
  })
  const server = createServer(toNodeHandler(waybill))
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  await waybill.start()
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const operator = new OperatorClient({ baseUrl: url, apiKey: operatorKey })
  await operator.putTenant("acme", { name: "Acme Freight" })
  const { secret } = await operator.putSecret("acme", "main", { anyClient: true })
  const carrier = await operator.createApiKey("acme", { name: "tms", roles: ["carrier"] })

  const customer = async (name: string, accounts: readonly [string, ...ReadonlyArray<string>]) => ({
    apiKey: (await operator.createApiKey("acme", { name, roles: ["customer"], accounts })).key,
    accounts
  })

  const clients = async (): Promise<Fixtures> => {
    const run = randomUUID().slice(0, 8)
    return {
      clients: {
        customer: await customer(`shipper-${run}`, [`A-${run}`, `EMPTY-${run}`]),
        other: await customer(`stranger-${run}`, [`B-${run}`]),
        carrier: { apiKey: carrier.key, DOT: "1234567", MC: "765432" }
      },
      webhook: { hmacSecretId: "main", secret }
    }
  }

  const stop = async () => {
    await waybill.stop()
    server.close()
    server.closeAllConnections()
  }
  return { url, clients, stop }
}

export type Api = Awaited<ReturnType<typeof startApi>>

/** A target with clients and freight of its own. */
export const targetOf = async (api: Api, options: Partial<Target> & { readonly publicUrl?: string } = {}): Promise<Target> => {
  const { publicUrl, ...more } = options
  const seeded = await seedThroughIntake(api.url, await api.clients(), randomUUID().slice(0, 6))
  const callback: Callback = options.callback ?? await openCallback({ host: "127.0.0.1", port: 0, ...(publicUrl === undefined ? {} : { publicUrl }) })
  return {
    bases: basesOf(api.url),
    fixtures: seeded.fixtures,
    trigger: seeded.trigger,
    callback,
    isReachable: true,
    limits: { timeoutMillis: 20_000, totalMillis: 240_000, maxCalls: 5_000, maxAnswerBytes: 16 * 1024 * 1024 },
    waitMillis: 20_000,
    quietMillis: 300,
    ...more
  }
}
