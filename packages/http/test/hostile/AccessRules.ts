/**
 * The access rules as one table: each call by the subject it is about. A call without a rule fails the matrix, so every
 * new endpoint needs a rule here.
 */
import { type Caller, clients } from "./Callers.ts"
import type { Call } from "./Calls.ts"
import type { Operation } from "./Operations.ts"
import type { Subject } from "./Subject.ts"

/** The ids that a call names, which may or may not exist in the requested tenant. */
export interface Target {
  readonly label: string
  readonly subject: Subject
  /** Owner; `undefined` when the ids do not exist. */
  readonly of?: keyof typeof clients
}

export interface Outcome {
  readonly status: number
  /** The response must equal the one for an unknown id. */
  readonly hidden: boolean
}

/** For callers whose credentials match the call's `access`. */
type Kind = (caller: Caller, target: Target) => Outcome

export interface Rule {
  readonly kind: Kind
  /** `changes`: existing data changes. `adds`: new data of the caller is created. */
  readonly effect: "reads" | "adds" | "changes"
  /** Changes to the usual call. */
  readonly variant?: (call: Call) => Call
}

const shown = (status: number): Outcome => ({ status, hidden: false })
const hidden = (status: number): Outcome => ({ status, hidden: true })

const isThere = ({ tenantId }: Caller, { of, subject }: Target): boolean => of !== undefined && subject.tenantId === tenantId

const hasAccount = ({ accounts = [] }: Caller, { subject }: Target): boolean => subject.accounts.some((account) => accounts.includes(account))

const fitsNumbers = ({ numbers = {} }: Caller, { subject }: Target): boolean =>
  (numbers.dot ?? subject.dot) === subject.dot && (numbers.mc ?? subject.mc) === subject.mc

const isCarrier = ({ role }: Caller): boolean => role === "carrier"

/** A carrier with a number sees the freight with that number, a carrier without one sees all of its tenant. */
export const seesFreight = (caller: Caller, target: Target): boolean =>
  isThere(caller, target) && (caller.role === "carrier" ? fitsNumbers(caller, target) : hasAccount(caller, target))

export const seesPapers = seesFreight

/** A report about another carrier's freight is refused without details. */
const isOthers = (caller: Caller, target: Target): boolean => isThere(caller, target) && !fitsNumbers(caller, target)

export const isItsClient = (caller: Caller, target: Target): boolean => isThere(caller, target) && caller.client === clients[target.of!]

/** A secret that is bound to accounts exists for clients with one of them. */
const mayName = (caller: Caller, target: Target): boolean => isThere(caller, target) && hasAccount(caller, target)

/** All fields for the owner, four fields for others of the tenant. */
const lookup: Kind = (caller, target) =>
  seesFreight(caller, target) ? shown(200) : isThere(caller, target) && caller.numbers === undefined ? shown(202) : hidden(404)

const publicLookup: Kind = (caller, target) => isThere(caller, target) && fitsNumbers(caller, target) ? shown(200) : hidden(404)

/** The interface itself distinguishes accounts of others (401) from unknown ones (404), so this call may too. */
const account: Kind = (caller, target) => {
  const { subject } = target
  const asked = subject.accounts[0]
  // A carrier with a number knows only the accounts of its own shipments; those of mine and near have one each.
  if (caller.numbers !== undefined) return accountsOfNumbers(caller).includes(asked) ? shown(200) : hidden(404)
  if (caller.accounts?.includes(asked) === true) return shown(200)
  const known = ({ acme: ["A1", "A2"], bolt: ["A1", "B1"] } as Readonly<Record<string, ReadonlyArray<string>>>)[caller.tenantId!]!.includes(asked)
  return known ? shown(isCarrier(caller) ? 200 : 401) : hidden(404)
}

/** Accounts of the shipments with one of the caller's numbers. */
const accountsOfNumbers = ({ numbers = {}, tenantId }: Caller): ReadonlyArray<string> =>
  tenantId !== "acme" ? [] : numbers.dot === "1000001" || numbers.mc === "MC-2000001" ? ["A1"] : ["A2"]

/** Subscriptions are visible to their client only, not even to the carrier. */
const clientsOwn = (status: number): Kind => (caller, target) => isItsClient(caller, target) ? shown(status) : hidden(404)

const paper: Kind = (caller, target) => seesPapers(caller, target) ? shown(200) : hidden(404)

const writtenPaper: Kind = (caller, target) => isCarrier(caller) ? paper(caller, target) : hidden(403)

const replacedPaper: Kind = (caller, target) => isCarrier(caller) && fitsNumbers(caller, target) ? paper(caller, target) : hidden(403)

const newPaper = (status: number): Kind => (caller, target) => isCarrier(caller) && fitsNumbers(caller, target) ? shown(status) : hidden(403)

const pickup: Kind = (caller, target) => seesFreight(caller, target) || isItsClient(caller, target) ? shown(200) : hidden(404)

const orderedPickup: Kind = (caller, { subject }) => isCarrier(caller) || caller.accounts!.includes(subject.accounts[0]) ? shown(200) : hidden(400)

/** Within the caller's tenant; ids of another tenant count as new. */
const report: Kind = (caller, target) => !isCarrier(caller) ? hidden(403) : shown(isOthers(caller, target) ? 400 : 200)

/** Bills that a carrier without a number reported belong to no carrier. */
const reportOfBill: Kind = (caller, target) => !isCarrier(caller) ? hidden(403) : shown(isThere(caller, target) && caller.numbers !== undefined ? 400 : 200)

const knownReport: Kind = (caller, target) => !isCarrier(caller) ? hidden(403) : seesFreight(caller, target) ? shown(200) : hidden(400)

const record: Kind = (caller, target) => !isCarrier(caller) ? hidden(403) : seesFreight(caller, target) ? shown(200) : hidden(404)

const carriersOnly = (status: number): Kind => (caller) => isCarrier(caller) ? shown(status) : hidden(403)

const decidedPickup: Kind = (caller, target) => record(caller, target).status === 200 ? shown(409) : record(caller, target)

const othersSubscription: Kind = (caller) => hidden(isCarrier(caller) ? 404 : 403)

const namesSecret = (status: number): Kind => (caller, target) => mayName(caller, target) ? shown(status) : hidden(400)

const carriersNameSecret: Kind = (caller, target) => isCarrier(caller) ? namesSecret(201)(caller, target) : hidden(403)

/** Without a secret only the accounts matter. A client subscribes to an account once. */
const newChargeSubscription: Kind = (caller, target) =>
  caller.accounts!.includes(target.subject.accounts[0]) ? shown(isItsClient(caller, target) ? 409 : 201) : hidden(403)

const anyCaller = (status: number): Kind => () => shown(status)

/** A filter without a match returns an empty list. */
const list = (sees: (caller: Caller, target: Target) => boolean): Kind => (caller, target) => sees(caller, target) ? shown(200) : hidden(200)

const inTenant = (status: number): Kind => (_, { subject }) => subject.tenantId === "nowhere" ? hidden(404) : shown(status)

const tenants = (status: number): Kind => (_, { of }) => of === undefined ? hidden(404) : shown(status)

const foundShipments: Kind = (caller, target) => target.of === undefined && target.subject.tenantId !== "nowhere" ? hidden(200) : inTenant(200)(caller, target)

const reads = (kind: Kind): Rule => ({ kind, effect: "reads" })
const adds = (kind: Kind, variant?: Rule["variant"]): Rule => ({ kind, effect: "adds", ...(variant === undefined ? {} : { variant }) })
const changes = (kind: Kind): Rule => ({ kind, effect: "changes" })

const withBody = (change: (body: Readonly<Record<string, unknown>>) => unknown) => (call: Call): Call =>
  ({ ...call, body: change(call.body as Readonly<Record<string, unknown>>) })
/** A carrier without a number reports the shipment's carrier; known values stay. */
const withoutCarrier = withBody(({ shipments }) => ({ shipments: (shipments as ReadonlyArray<object>).map((each) => ({ ...each, carrier: undefined })) }))
const unsigned = withBody(({ hmacSecretId: _, ...body }) => body)

const rules: Readonly<Record<string, Readonly<Record<string, ReadonlyArray<Rule>>>>> = {
  "shipment-status": {
    verifiedByPro: [reads(lookup)],
    verifiedByBol: [reads(lookup)],
    verifiedByPo: [reads(lookup)],
    pickedUp: [reads(account)],
    publicByPro: [reads(publicLookup)],
    publicByBol: [reads(publicLookup)],
    publicByPo: [reads(publicLookup)],
    subscribe: [adds(namesSecret(200)), adds(anyCaller(200), unsigned)],
    unsubscribe: [changes(clientsOwn(200))]
  },
  invoices: {
    listInvoices: [reads(list(seesPapers))],
    getInvoice: [reads(paper)],
    createInvoice: [changes(newPaper(200))],
    updateInvoice: [changes(replacedPaper)],
    deleteInvoice: [changes(writtenPaper)],
    listDocuments: [reads(list(seesPapers))],
    getDocument: [reads(paper)],
    uploadDocument: [changes(newPaper(201))],
    deleteDocument: [changes(writtenPaper)]
  },
  pickups: {
    getPickup: [reads(pickup)],
    createPickup: [adds(orderedPickup)],
    updatePickup: [changes(pickup)],
    deletePickup: [changes(pickup)]
  },
  "transit-events": {
    listEvents: [reads(list(seesFreight)), { ...reads(anyCaller(200)), variant: (call) => ({ ...call, query: {} }) }],
    listSubscriptions: [reads(anyCaller(200))],
    createSubscription: [adds(namesSecret(201)), adds(anyCaller(201), withBody((body) => ({ ...body, hmacSecretId: "main" })))],
    getSubscription: [reads(clientsOwn(200))],
    updateSubscription: [changes(clientsOwn(200))],
    deleteSubscription: [changes(clientsOwn(204))]
  },
  "freight-charges": {
    createChargeSubscription: [adds(newChargeSubscription, unsigned), adds(namesSecret(409))],
    getChargeSubscription: [reads(clientsOwn(200))],
    cancelChargeSubscription: [changes(clientsOwn(204))],
    listInFlight: [reads(clientsOwn(200))],
    testWebhook: [adds(namesSecret(200))]
  },
  intake: {
    reportTransitEvents: [changes(report)],
    registerShipments: [{ ...changes(report), variant: withoutCarrier }],
    reportStatusUpdates: [changes(knownReport)],
    reportFreightCharges: [changes(reportOfBill)],
    reportPickupStatus: [changes(record)],
    getShipmentRecord: [reads(record)],
    listPickupChanges: [reads(carriersOnly(200))],
    listPickupSubscriptions: [reads(carriersOnly(200))],
    createPickupSubscription: [adds(carriersNameSecret), adds(carriersOnly(201), withBody((body) => ({ ...body, hmacSecretId: "main" })))],
    // The subscriptions of the subjects are customers'.
    getPickupSubscription: [reads(othersSubscription)],
    updatePickupSubscription: [reads(othersSubscription)],
    deletePickupSubscription: [reads(othersSubscription)],
    // The pickups of the subjects are decided.
    decidePickup: [reads(decidedPickup)],
    getPickupRecord: [reads(record)]
  },
  operator: {
    putTenant: [changes(anyCaller(200))],
    listAudit: [reads(anyCaller(200))],
    getLimits: [reads(inTenant(200))],
    putLimits: [changes(inTenant(200))],
    suspendTenant: [changes(inTenant(200))],
    resumeTenant: [changes(inTenant(200))],
    // Without confirm nothing is deleted; the tests of tenants cover that.
    deleteTenant: [{ ...reads(anyCaller(400)), variant: (call) => ({ ...call, query: {} }) }],
    listApiKeys: [reads(inTenant(200))],
    listClients: [reads(inTenant(200))],
    removeClient: [changes(tenants(204))],
    createApiKey: [changes(inTenant(201))],
    createPortalLink: [reads(tenants(201))],
    revokeApiKey: [changes(tenants(204))],
    putSecret: [changes(inTenant(200))],
    listSecrets: [reads(inTenant(200))],
    // Each secret is in use by a subscription.
    deleteSecret: [reads(tenants(409))],
    listDeliveries: [reads(inTenant(200))],
    getDelivery: [reads(tenants(200))],
    retryDelivery: [changes(tenants(202))],
    // The delivery was accepted, and only dead letters can be dismissed.
    dismissDelivery: [changes(tenants(409))],
    // Require dead letters, which no subject has.
    retryDeadLetters: [reads(inTenant(202))],
    dismissDeadLetters: [reads(inTenant(202))],
    purgeSubscriptions: [changes(tenants(202))],
    getSubscriptionStatus: [reads(tenants(200))],
    recoverSubscription: [changes(tenants(202))],
    editSubscription: [changes(tenants(200))],
    pauseSubscription: [changes(tenants(200))],
    resumeSubscription: [changes(tenants(200))],
    purgeSubscription: [changes(tenants(202))],
    removeSubscription: [changes(tenants(204))],
    replaySubscription: [changes(tenants(202))],
    listTenants: [reads(anyCaller(200))],
    listAllSubscriptions: [reads(inTenant(200))],
    getHealth: [reads(anyCaller(200))],
    getStatistics: [reads(inTenant(200))],
    explainDelivery: [reads(tenants(200))],
    findShipments: [reads(foundShipments)],
    getShipmentJourney: [reads(tenants(200))],
    listPickups: [reads(inTenant(200))],
    // The pickups of the subjects are decided.
    decidePickupForCarrier: [reads(tenants(409))]
  },
  portal: {
    getPortalSession: [reads(anyCaller(200))],
    listPortalSubscriptions: [reads(anyCaller(200))],
    getPortalSubscription: [reads(clientsOwn(200))],
    pausePortalSubscription: [changes(clientsOwn(200))],
    resumePortalSubscription: [changes(clientsOwn(200))],
    testPortalSubscription: [adds(clientsOwn(200))],
    listPortalDeliveries: [reads(list(isItsClient))],
    getPortalDelivery: [reads(clientsOwn(200))],
    retryPortalDelivery: [changes(clientsOwn(202))],
    getPortalContact: [reads(anyCaller(200))],
    putPortalContact: [changes(anyCaller(200))],
    listPortalSecrets: [reads(anyCaller(200))],
    // The secrets of the subjects belong to accounts, not to a client.
    rotatePortalSecret: [reads(() => hidden(404))]
  },
  system: {
    health: [reads(anyCaller(200))],
    readiness: [reads(anyCaller(200))],
    metrics: [reads(anyCaller(200))],
    openApi: [reads(anyCaller(200))],
    openApiOfArea: [reads(anyCaller(200))],
    docs: [reads(anyCaller(200))]
  }
}

export const rulesOf = ({ contract, name }: Operation): ReadonlyArray<Rule> | undefined => rules[contract.area]?.[name]

/** Area and name of every call with a rule. */
export const ruledIds: ReadonlyArray<string> = Object.entries(rules).flatMap(([area, calls]) => Object.keys(calls).map((name) => `${area}.${name}`))

/** First the call's `access` decides on the credentials, then its rule. */
export const expectedOf = ({ contract, endpoint }: Operation, rule: Rule, caller: Caller, target: Target): Outcome => {
  const { access } = endpoint
  if (access === "public") return shown(200)
  if (caller.role === "impostor" || (caller.role === "nobody" && access !== "anonymous")) return hidden(401)
  if ((access === "operator") !== (caller.role === "operator")) return hidden(contract.statuses?.NotPermitted ?? 403)
  if (caller.readOnly === true && (endpoint.method !== "GET" || endpoint.showsBodies === true)) return hidden(403)
  return rule.kind(caller, target)
}
