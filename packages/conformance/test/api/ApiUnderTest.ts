/** This service as the implementation under test, in memory, with everything that the rules need. */
import { OperatorClient } from "@waybill/client"
import { Waybill } from "@waybill/core"
import { DeliveryOptions } from "@waybill/core/delivery"
import { ShipmentStatusOptions } from "@waybill/core/shipment-status"
import { toNodeHandler, TransportHttp, waybillOver } from "@waybill/http"
import { StorageMemory } from "@waybill/testkit"
import { Layer, Redacted } from "effect"
import * as Clock from "effect/Clock"
import { randomBytes, randomUUID } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import type { Fixtures } from "../../src/api/Fixtures.ts"
import type { Area, WindowFrequency } from "../../src/api/Rule.ts"
import type { Target } from "../../src/api/RunRules.ts"
import { seedThroughIntake } from "../../src/api/Seed.ts"
import { type Callback, openCallback } from "../../src/api/Callback.ts"
import { makeAdjustableClock } from "./AdjustableClock.ts"

const { startIdentityProvider } = await import(new URL("../../../http/test/hostile/IdentityProvider.ts", import.meta.url).pathname) as {
  readonly startIdentityProvider: () => Promise<{
    readonly jwt: { readonly jwksUrl: string; readonly allowHttpHosts: ReadonlyArray<string>; readonly issuer: string; readonly audience: string }
    readonly token: (claims: Readonly<Record<string, unknown>>) => Promise<string>
    readonly expired: Readonly<Record<string, unknown>>
    readonly close: () => Promise<unknown>
  }>
}

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
  const clock = makeAdjustableClock()
  const identity = await startIdentityProvider()
  const settings = Layer.mergeAll(
    DeliveryOptions.layer({ pollMillis: 50 }),
    Layer.succeed(ShipmentStatusOptions, { othersLookupsPerMinute: 100_000 }),
    Layer.succeed(Clock.Clock, clock)
  )
  const transport = TransportHttp.layer({ sealingKeys: [Redacted.make(new Uint8Array(randomBytes(32)))], egressAllow: ["127.0.0.1"] })
  const waybill = waybillOver<object>({
    layer: Layer.provideMerge(Waybill.layer({ storage: StorageMemory.layer, transport }), settings),
    apiKeys: true,
    operatorKeys: [operatorKey],
    jwt: identity.jwt,
    log: () => {}
  })
  // a check on a busy machine may pause for longer than the default of five seconds
  const server = createServer({ keepAliveTimeout: 600_000 }, toNodeHandler(waybill))
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
    const accounts = [`A-${run}`, `EMPTY-${run}`] as const
    const claims = { sub: `shipper-${run}`, tenant: "acme", roles: ["customer"], accounts }
    return {
      clients: {
        customer: await customer(`shipper-${run}`, accounts),
        other: await customer(`stranger-${run}`, [`B-${run}`]),
        carrier: { apiKey: carrier.key, DOT: "1234567", MC: "765432" }
      },
      tokens: { customer: await identity.token(claims), expired: await identity.token({ ...claims, ...identity.expired }) },
      webhook: { hmacSecretId: "main", secret }
    }
  }

  const stop = async () => {
    await waybill.stop()
    await identity.close()
    server.close()
    server.closeAllConnections()
  }
  /** Ends the window of one frequency. Deliveries after it have timestamps that receivers of other tests refuse. */
  const endWindow = (frequency: WindowFrequency) => clock.advanceTo(frequency === "hourly" ? 3_600_000 : 86_400_000)
  return { url, clients, endWindow, stop }
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
    // files of 25 MB of several mutants at once keep other answers waiting on a busy machine
    limits: { timeoutMillis: 60_000, totalMillis: 240_000, maxCalls: 5_000, maxAnswerBytes: 16 * 1024 * 1024 },
    waitMillis: 20_000,
    quietMillis: 300,
    ...more
  }
}
