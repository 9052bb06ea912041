/**
 * Fuzzes every call of the given contracts. A failure names its seed; `WAYBILL_FUZZ_SEED=invoices.createInvoice:1234`
 * sends and shows that request alone, `WAYBILL_FUZZ_SEED=500000` starts at another seed.
 */
import { SeededRandom } from "@waybill/conformance/fixtures"
import { KeptChanges } from "@waybill/testkit"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { operatorKey } from "../TestService.ts"
import { callOf, targetOf } from "./Calls.ts"
import { type IdentityProvider, startIdentityProvider } from "./IdentityProvider.ts"
import { type Operation, operationOf, operations } from "./Operations.ts"
import { type Intent, intentOf, keysOf, type KnownKeys, requestOf } from "./Requests.ts"
import type { Subject } from "./Subject.ts"
import { faultOf } from "./Verdict.ts"
import { send, startFixture, type Fixture } from "./Fixture.ts"

/** The long form, `npm run proof`, sends eight times as many requests as a test run. */
const isLong = process.env["WAYBILL_PROOF"] === "long"

/** Calls without variable input. */
const hasNoInput = ({ endpoint: { body, query }, template }: Pick<Operation, "endpoint" | "template">): boolean =>
  body === undefined && query === undefined && !template.includes("{")

/** Calls with a body have more that can be wrong. */
export const longRequestsOf = ({ endpoint, template }: Operation): number => {
  // No variable input.
  if (endpoint.access === "public" && !template.includes("{")) return 200
  return endpoint.body === undefined ? 1600 : 2700
}

const requestsOf = (operation: Operation): number => isLong ? longRequestsOf(operation) : longRequestsOf(operation) / 8

/** Minimum share of accepted valid requests; otherwise the other requests test nothing. */
const acceptedShare: Readonly<Record<string, number>> = {
  // A client may send ten per minute.
  "freight-charges.testWebhook": 0.25,
  // The deliveries here were accepted, and only dead letters can be dismissed.
  "operator.dismissDelivery": 0,
  // Accepts only one of eventId, shipmentId and pro.
  "operator.explainDelivery": 0.5,
  // The secret belongs to the subject's accounts, which a carrier has none of.
  "intake.createPickupSubscription": 0,
  // The subscription is one to events.
  "intake.getPickupSubscription": 0,
  "intake.updatePickupSubscription": 0,
  "intake.deletePickupSubscription": 0,
  // Every order here was accepted at once.
  "intake.decidePickup": 0,
  "operator.decidePickupForCarrier": 0,
  // The deliveries are of another client, the secret belongs to accounts, and test events share the limit of ten per minute.
  "portal.getPortalDelivery": 0,
  "portal.retryPortalDelivery": 0,
  "portal.rotatePortalSecret": 0,
  "portal.testPortalSubscription": 0,
  // Half of them remove unknown bills.
  "intake.reportFreightCharges": 0.4
}

/** Calls that create again what one call removes. */
const makers: Readonly<Record<string, readonly [maker: string, id: (made: any, asked: Subject) => Partial<Subject>]>> = {
  "invoices.deleteInvoice": ["invoices.createInvoice", (_, { uniqueID }) => ({ uniqueID })],
  "invoices.deleteDocument": ["invoices.uploadDocument", (_, { invoiceNumber }) => ({ invoiceNumber })],
  "shipment-status.unsubscribe": ["shipment-status.subscribe", ({ transactionId }) => ({ transactionId })],
  "operator.createPortalLink": ["operator.createApiKey", (_, { client }) => ({ client })],
  "operator.deleteSecret": ["operator.putSecret", ({ hmacSecretId }) => ({ hmacSecretId })],
  "operator.deleteTenant": ["operator.putTenant", (_, { tenantId }) => ({ tenantId })],
  "operator.removeClient": ["operator.createApiKey", (_, { client }) => ({ client })],
  "operator.removeSubscription": ["transit-events.createSubscription", ({ id }) => ({ subscriptionId: id })],
  "operator.revokeApiKey": ["operator.createApiKey", ({ id }) => ({ keyId: id })],
  "pickups.deletePickup": ["pickups.createPickup", ([{ carrierPickupNumber }]) => ({ pickupId: carrierPickupNumber })],
  "pickups.updatePickup": ["pickups.createPickup", ([{ carrierPickupNumber }]) => ({ pickupId: carrierPickupNumber })]
}

const [replayed, from] = ((): readonly [string | undefined, number] => {
  const wanted = process.env["WAYBILL_FUZZ_SEED"]?.split(":") ?? []
  return wanted.length === 2 ? [wanted[0], Number(wanted[1])] : [undefined, Number(wanted[0] ?? 1)]
})()

let provider: IdentityProvider
let fixture: Fixture
let keys: KnownKeys

const start = async () => {
  provider = await startIdentityProvider()
  fixture = await startFixture(provider, { logLevel: "Error" })
  await fixture.service.tenant(spare)
  // Far above any real client's needs.
  const subscriptions = { eventSubscriptionsPerClient: 100_000, chargeSubscriptionsPerClient: 100_000, statusSubscriptionsPerClient: 100_000, statusSubscriptionsPerReference: 100_000 }
  const limits = { ...subscriptions, requestsPerSecondPerCustomer: 1_000_000, requestsPerSecondPerCarrier: 1_000_000 }
  await fixture.service.send("PUT", "/operator/v1/tenants/acme/limits", { key: operatorKey, body: limits })
  const accounts = ["A1", ...Array.from({ length: 2000 }, (_, at) => `F${at}`)]
  const customer = await fixture.acme.customer("fuzz", accounts)
  keys = { carrier: fixture.acme.carrier, customer, others: await Promise.all(Array.from({ length: 40 }, (_, at) => fixture.acme.customer(`fuzz-${at}`, ["A1"]))) }
}

/** Calls that disable a tenant use a separate one. */
const spare = "spare"
const onSpareTenant = ["operator.deleteTenant", "operator.suspendTenant", "operator.resumeTenant"]

/** The subject of a call; creates again what the call uses up. */
const subjectFor = async (operation: Operation, seed: number): Promise<Subject> => {
  const { mine, near } = fixture.subjects
  // Repeated reports produce a long history, which is slow to read.
  const isRecord = operation.contract.area === "intake" && operation.endpoint.method === "GET"
  const isSpare = onSpareTenant.includes(operation.id)
  // Harmless damage would remove a subscription, so it must not belong to another call.
  const ids = isRecord ? near : operation.id === "operator.removeSubscription" ? mine : { ...mine, ...own, ...(isSpare ? { tenantId: spare } : {}) }
  const [makerName, idOf] = makers[operation.id] ?? []
  if (makerName === undefined || intentOf(operation, seed) !== "valid") return ids
  const maker = operationOf(makerName)
  const asked = { ...ids, uniqueID: `${ids.uniqueID}-m${seed}`, invoiceNumber: `${ids.invoiceNumber}-m${seed}`, client: `${ids.client}-m${seed}`, tenantId: isSpare ? `${spare}-m${seed}` : ids.tenantId }
  // The subject's own secret is in use by its subscriptions.
  const call = callOf(maker, makerName === "operator.putSecret" ? { ...asked, hmacSecretId: `${ids.hmacSecretId}-m${seed}` } : asked, new SeededRandom(seed), { full: true })
  const made = await send(fixture.service, maker, targetOf(maker, call), { headers: keysOf(maker, keys).right }, call.body)
  return made.status < 300 ? { ...ids, ...idOf!(made.json, asked) } : ids
}

/** Ids of the fuzzing client's own data. */
let own: Partial<Subject> = {}

const makeOwn = async () => {
  const ask = async (name: string) => {
    const operation = operationOf(name)
    const call = callOf(operation, { ...fixture.subjects.mine, ...own }, new SeededRandom(1), { full: true })
    const answer = await send(fixture.service, operation, targetOf(operation, call), { headers: keysOf(operation, keys).right }, call.body)
    if (answer.status >= 300) throw new Error(`${name}: ${answer.status} ${answer.text}`)
    return answer.json
  }
  own = { subscriptionId: (await ask("transit-events.createSubscription")).id, transactionId: (await ask("shipment-status.subscribe")).transactionId }
  own = { ...own, chargeSubscriptionId: (await ask("freight-charges.createChargeSubscription")).subscriptionId, pickupId: (await ask("pickups.createPickup"))[0].carrierPickupNumber }
}

export const fuzz = (title: string, areas: ReadonlyArray<string>): void => {
  const fuzzed = operations.filter(({ contract, id }) => areas.includes(contract.area) && (replayed === undefined || replayed === id))
  describe.skipIf(fuzzed.length === 0)(`any request to ${title}`, () => {
    beforeAll(async () => {
      await start()
      await makeOwn()
    }, 120_000)
    let sent = 0
    afterAll(async () => {
      if (isLong) process.stdout.write(`fuzzing: ${sent} requests\n`)
      await fixture.service.stop()
      await provider.close()
    })

    it.each(fuzzed.map((operation) => [operation.id, operation] as const))("%s gets the response of its contract, and changes nothing when it is refused", async (_, operation) => {
      const tally: Record<Intent, Array<number>> = { valid: [], almost: [], garbage: [] }
      const count = replayed === undefined ? requestsOf(operation) : 1
      for (let seed = from; seed < from + count; seed++) {
        const { intent, status } = await sendOne(operation, seed)
        tally[intent].push(status)
        sent += 1
      }
      if (replayed === undefined) checkShares(operation, tally)
      expect(fixture.service.log, "the service logged an error").toEqual([])
    }, 300_000)
  })
}

const sendOne = async (operation: Operation, seed: number): Promise<{ readonly intent: Intent; readonly status: number }> => {
  const kept = await fixture.service.run(KeptChanges)
  const subject = await subjectFor(operation, seed)
  const { intent, method, request, shown } = requestOf(operation, subject, keysOf(operation, keys, seed), seed)
  const before = [kept.count(), kept.entries()] as const
  const answer = await within(fixture.service.fetch(request), () => `${replay(operation, seed)} has no answer.\n${shown}`)
  const path = request.url.slice("http://waybill.test".length).split("?", 1)[0]!
  const fault = faultOf(operation, method, path, answer) ??
    (answer.status >= 400 && hasChanged(operation, before, kept) ? "was refused, and something has changed" : undefined)
  const report = `${shown}\nanswered ${answer.status} ${answer.text.slice(0, 2000)} ${answer.headers.get("x-waybill-detail") ?? ""}\n`
  if (fault !== undefined) expect.fail(`${replay(operation, seed)} ${fault}\n${report}`)
  if (replayed !== undefined) process.stdout.write(`${intent}: ${report}`)
  return { intent, status: answer.status }
}

/** Uploads are stored in chunks; a refused one must leave nothing. */
const hasChanged = ({ endpoint }: Operation, [changes, entries]: readonly [number, number], kept: KeptChanges["Service"]): boolean =>
  endpoint.body?.streamed === true ? kept.entries() !== entries : kept.count() !== changes

const replay = ({ id }: Operation, seed: number): string => `WAYBILL_FUZZ_SEED=${id}:${seed}`

/** A response that takes half a minute is a failure. */
const within = async <A>(answer: Promise<A>, messageOf: () => string): Promise<A> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => timer = setTimeout(() => reject(new Error(messageOf())), 30_000))
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}

const share = (statuses: ReadonlyArray<number>, holds: (status: number) => boolean): number => statuses.filter(holds).length / statuses.length

const isAccepted = (status: number): boolean => status < 400

const checkShares = ({ endpoint, id, template }: Operation, { almost, garbage, valid }: Readonly<Record<Intent, ReadonlyArray<number>>>): void => {
  expect(share(valid, isAccepted), `too few well-meant requests to ${id} are accepted: ${JSON.stringify(counted(valid))}`).toBeGreaterThanOrEqual(acceptedShare[id] ?? 0.6)
  if (endpoint.access === "public" || hasNoInput({ endpoint, template })) return
  // Damaged requests are refused often, garbage mostly.
  expect(share(almost, isAccepted), `nearly all damaged requests to ${id} are accepted: ${JSON.stringify(counted(almost))}`).toBeLessThan(0.95)
  expect(share(garbage, isAccepted), `most garbage sent to ${id} is accepted: ${JSON.stringify(counted(garbage))}`).toBeLessThan(0.8)
}

const counted = (statuses: ReadonlyArray<number>): Readonly<Record<string, number>> => {
  const counts: Record<string, number> = {}
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1
  return counts
}
