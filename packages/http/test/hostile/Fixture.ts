/** Two tenants, three subjects, all callers, and data that contains the subjects' words everywhere. */
import { SeededRandom } from "@waybill/conformance/fixtures"
import { type Answer, operatorKey, startService, type TestService, type TestServiceOptions } from "../TestService.ts"
import { type Caller, clients, makeCallers } from "./Callers.ts"
import { callOf, contentTypeOf, targetOf } from "./Calls.ts"
import type { IdentityProvider } from "./IdentityProvider.ts"
import { type Operation, operationOf } from "./Operations.ts"
import { type Subject, subjectNamed } from "./Subject.ts"

export const subjectNames = ["mine", "near", "far"] as const
type SubjectName = typeof subjectNames[number]

/** All data of a subject contains its word; followed by `papers` or `own` in data that fewer callers may see. */
export const wordOf: Readonly<Record<SubjectName, string>> = { mine: "qmine", near: "qnear", far: "qaway" }

const blank: Readonly<Record<SubjectName, Subject>> = {
  mine: subjectNamed(wordOf.mine, { tenantId: "acme", accounts: ["A1"], dot: "1000001", mc: "MC-2000001" }),
  near: subjectNamed(wordOf.near, { tenantId: "acme", accounts: ["A2"], dot: "1000002", mc: "MC-2000002" }),
  // The same account, client and carrier numbers as mine, in another tenant.
  far: subjectNamed(wordOf.far, { tenantId: "bolt", accounts: ["B1", "A1"], dot: "1000001", mc: "MC-2000001", isTest: true })
}

/** A subject that does not exist, in an unknown tenant. */
export const nothing = subjectNamed("qvoid", { tenantId: "nowhere", accounts: ["Z9"], dot: "1000009", mc: "MC-2000009" })

export const send = (service: TestService, operation: Operation, target: string, caller: Pick<Caller, "headers">, body: unknown): Promise<Answer> =>
  service.send(operation.endpoint.method, target, {
    headers: { "x-request-id": "hostile", ...(body === undefined ? {} : { "content-type": contentTypeOf(operation) }), ...caller.headers },
    ...(body === undefined ? {} : { body })
  })

export const startFixture = async (provider: IdentityProvider, options: TestServiceOptions = {}) => {
  const service = await startService({ standard: { jwt: provider.jwt }, ...options })
  const [acme, bolt] = [await service.tenant("acme"), await service.tenant("bolt")]
  for (const tenantId of ["acme", "bolt"]) {
    await service.send("PUT", `/operator/v1/tenants/${tenantId}`, { key: operatorKey, body: { name: tenantId, hosts: [`${tenantId}.example`] } })
  }
  const callers = await makeCallers(acme, bolt, service, provider, blank)
  const planted = async (name: SubjectName) => {
    const client = callers.find((caller) => caller.tenantId === blank[name].tenantId && caller.client === clients[name])!
    const of = name === "far" ? bolt : acme
    const decider = await of.carrierOf(`${name}-desk`, { dot: blank[name].dot, mc: blank[name].mc })
    return await plant(service, name, { carrier: of.carrier, decider }, client)
  }
  const subjects: Readonly<Record<SubjectName, Subject>> = { mine: await planted("mine"), near: await planted("near"), far: await planted("far") }
  return { service, acme, callers, subjects }
}

export type Fixture = Awaited<ReturnType<typeof startFixture>>

/** Publishes all data of a subject, with its word wherever a schema accepts it. */
const plant = async (service: TestService, name: SubjectName, keys: { readonly carrier: string; readonly decider: string }, client: Caller): Promise<Subject> => {
  const word = wordOf[name]
  const random = new SeededRandom(7)
  let subject = blank[name]
  let count = 0
  const carrier = { headers: { "x-api-key": keys.carrier } }
  const operator = { headers: { "x-api-key": operatorKey } }
  const ask = async (operationName: string, caller: Pick<Caller, "headers">, suffix = ""): Promise<any> => {
    const operation = operationOf(operationName)
    const call = callOf(operation, subject, random, { full: true, text: () => `${word}${suffix}${count++}` })
    const answer = await send(service, operation, targetOf(operation, call), caller, call.body)
    if (answer.status >= 300) throw new Error(`${operationName} about ${name} was refused: ${answer.status} ${answer.text} ${answer.headers.get("x-waybill-detail") ?? ""}`)
    return answer.json
  }
  await ask("operator.putSecret", operator, "own")
  await ask("intake.registerShipments", carrier)
  await ask("intake.reportStatusUpdates", carrier)
  await ask("intake.reportTransitEvents", carrier)
  await ask("intake.reportFreightCharges", carrier)
  await ask("invoices.createInvoice", carrier, "papers")
  await ask("invoices.uploadDocument", carrier, "papers")
  subject = { ...subject, pickupId: (await ask("pickups.createPickup", client))[0].carrierPickupNumber }
  // The carrier with the subject's numbers decides on it; no other carrier sees it then.
  await ask("intake.reportPickupStatus", { headers: { "x-api-key": keys.decider } })
  subject = { ...subject, subscriptionId: (await ask("transit-events.createSubscription", client, "own")).id }
  subject = { ...subject, chargeSubscriptionId: (await ask("freight-charges.createChargeSubscription", client, "own")).subscriptionId }
  subject = { ...subject, transactionId: (await ask("shipment-status.subscribe", client, "own")).transactionId }
  await service.deliver()
  subject = { ...subject, deliveryId: (await ask("operator.listDeliveries", operator)).data[0].deliveryId }
  // A removed client, different from the one whose key is revoked.
  await ask("operator.createApiKey", operator)
  const leaver = subject.client
  subject = { ...subject, client: `${word}-staff` }
  return { ...subject, client: leaver, keyId: (await ask("operator.createApiKey", operator)).id }
}
