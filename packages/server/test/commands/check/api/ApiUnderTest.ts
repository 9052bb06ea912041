/** This service as the implementation under test, in memory, with everything that the rules need. */
import { toNodeHandler, createWaybill } from "@waybill/http"
import { memoryStorage } from "@waybill/testkit"
import { OperatorClient } from "@waybill/client"
import { randomBytes, randomUUID } from "node:crypto"
import { type Callback, openCallback } from "../../../../src/commands/check/Callback.ts"
import type { Fixtures } from "../../../../src/commands/check/api/Fixtures.ts"
import type { Target } from "../../../../src/commands/check/api/RunRules.ts"
import type { Area } from "../../../../src/commands/check/api/Rule.ts"
import { seedThroughIntake } from "../../../../src/commands/check/api/Seed.ts"
import { listening, urlOf } from "../../../program/Program.ts"

export const basesOf = (url: string): Readonly<Record<Area, string>> => ({
  a: `${url}/in-transit/v1`,
  b: `${url}/invoicing`,
  c: `${url}/pickup`,
  d: `${url}/visibility`,
  e: `${url}/pfc`
})

/** A running server and the fixtures with its clients, before anything is seeded. */
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
  const server = await listening(toNodeHandler(waybill))
  await waybill.start()
  const url = urlOf(server)
  const operator = new OperatorClient({ baseUrl: url, apiKey: operatorKey })
  await operator.putTenant("acme", { name: "Acme Freight" })
  const key = async (name: string, role: "carrier" | "customer", accounts: ReadonlyArray<string>, numbers: object = {}) =>
    (await operator.createApiKey("acme", { name, roles: [role], accounts, ...numbers })).key
  const { secret } = await operator.putSecret("acme", "main", { anyClient: true })
  const fixtures: Fixtures = {
    clients: {
      customer: { apiKey: await key("shipper", "customer", ["A-1", "A-2"]), accounts: ["A-1", "A-2"] },
      other: { apiKey: await key("stranger", "customer", ["B-1"]), accounts: ["B-1"] },
      carrier: { apiKey: await key("tms", "carrier", []), DOT: "1234567", MC: "765432" }
    },
    webhook: { hmacSecretId: "main", secret }
  }
  return { url, fixtures, stop: () => waybill.stop() }
}

export type Api = Awaited<ReturnType<typeof startApi>>

/** A target with freight of its own. */
export const targetOf = async (api: Api, options: { readonly bases?: Readonly<Record<Area, string>>; readonly callback?: Callback } = {}): Promise<Target> => {
  const seeded = await seedThroughIntake(api.url, api.fixtures, randomUUID().slice(0, 6))
  return {
    bases: options.bases ?? basesOf(api.url),
    fixtures: seeded.fixtures,
    trigger: seeded.trigger,
    callback: options.callback ?? await openCallback({ host: "127.0.0.1", port: 0 }),
    isReachable: true,
    limits: { timeoutMillis: 10_000, totalMillis: 120_000, maxCalls: 5_000, maxAnswerBytes: 16 * 1024 * 1024 },
    waitMillis: 15_000,
    quietMillis: 300
  }
}
