/** A valid call to each operation about a subject: path, query and body. */
import type { SeededRandom } from "@waybill/conformance/fixtures"
import { type Operation, placeholdersOf } from "./Operations.ts"
import { specimenOf, type SpecimenOptions } from "./Specimens.ts"
import { destinationPostalCode, originPostalCode, type Subject } from "./Subject.ts"

export interface Call {
  readonly method: string
  /** Values of the placeholders by name. */
  readonly params: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly body: unknown
}

type Json = Readonly<Record<string, any>>

const later = new Date(Date.now() + 30 * 86_400_000).toISOString().slice(0, 10)

const listed = (list: unknown, change: (item: Json) => Json): ReadonlyArray<Json> => (Array.isArray(list) ? list : []).map(change)

/** Adds what rules between members require, and the subject's ids; everything else is generated from the schema. */
const dressed: Readonly<Record<string, (body: Json, subject: Subject) => unknown>> = {
  createChargeSubscription: (body, { accounts, hmacSecretId, webhookUrl }) => ({
    ...body, webhookUrl, accounts: [accounts[0]], dataOptions: { shipmentDataType: "all_monitored_events" }, billScope: "subscribed_accounts", frequency: "real_time", hmacSecretId
  }),
  testWebhook: (body, { hmacSecretId, webhookUrl }) => ({ ...body, webhookUrl, hmacSecretId }),
  reportTransitEvents: (body, { accounts, eventId, shipmentId }) => ({
    events: listed(body["events"], ({ sequence: _, ...event }) => ({
      ...event, eventId, occurredAt: "2026-11-20T08:15:00-06:00", shipment: { ...event["shipment"], shipmentId }, parties: { accounts }
    })).slice(0, 1)
  }),
  registerShipments: (body, { accounts, bolNumber, dot, mc, poNumber, proNumber, shipmentId }) => ({
    shipments: listed(body["shipments"], ({ DelayReasonCode: _, ...shipment }) => ({
      ...shipment,
      shipmentId,
      accounts,
      carrier: { dot, mc },
      references: listed(shipment["references"], (reference) => ({ ...reference, type: "Ref" })),
      ProNumber: proNumber,
      UpdatedPro: null,
      ReferenceNumbers: { ...shipment["ReferenceNumbers"], bolNumber, poNumber },
      PickupAddress: { ...shipment["PickupAddress"], postalCode: originPostalCode },
      ConsigneeAddress: { ...shipment["ConsigneeAddress"], postalCode: destinationPostalCode },
      pickupDate: "2026-11-18",
      EstimatedDeliveryDate: "2026-11-21",
      UpdatedETA: "2026-11-21",
      occurredAt: "2026-11-18T15:00:00-05:00",
      ShipmentMilestoneStatus: "In Transit",
      Late: false,
      CrossBorder: false
    })).slice(0, 1)
  }),
  reportStatusUpdates: (body, { shipmentId }) => ({
    updates: listed(body["updates"], ({ countsToDelivery: _, proNumber: __, shipmentMilestoneStatus: ___, updateId: ____, ...update }) => ({
      ...update, shipmentId, occurredAt: "2026-11-20T08:15:00-06:00", deliveryInformation_messages: "Appointment Update", appointmentStatus: "appointment scheduled",
      appointmentDate: "2026-11-21"
    })).slice(0, 1)
  }),
  reportFreightCharges: (body, { accounts, billId }) => ({
    charges: listed(body["charges"], (item) => ({
      ...item,
      ...(item["change"] === "removed" ? {} : { change: "created" }),
      accounts,
      pfc: {
        ...item["pfc"],
        ...(item["change"] === "removed" ? {} : { billTo: { ...item["pfc"]["billTo"], account: accounts[0] } }),
        pfc: { ...item["pfc"]["pfc"], uniqueID: billId, header: {} }
      }
    })).slice(0, 1)
  }),
  reportPickupStatus: ({ carrierPickupNumber: _, ...body }) => ({ ...body, status: "En Route", stopEtaTimeZone: "UTC-5", stopEta: `${later}T10:00:00` }),
  createPickupSubscription: (body, { hmacSecretId, webhookUrl }) => ({
    ...body, topics: ["pickups"], endpointUrl: webhookUrl, hmacSecretId, delivery: { ...body["delivery"], initialBackoffSeconds: 1, maxBackoffSeconds: 60, rateLimitPerMinute: 60_000 }
  }),
  updatePickupSubscription: () => ({ status: "active", delivery: { maxAttempts: 3 } }),
  decidePickup: (body) => ({ ...body, decision: "accept", confirmationNumber: "C-1", scac: "ABCD" }),
  decidePickupForCarrier: (body) => ({ ...body, decision: "accept", confirmationNumber: "C-1", scac: "ABCD" }),
  createInvoice: (body, subject) => invoice(body, subject),
  updateInvoice: (body, subject) => invoice(body, subject),
  uploadDocument: (body, subject) => ({
    ...body,
    ...paper(body, subject),
    invoiceNumber: subject.invoiceNumber,
    documents: listed(body["documents"], (document) => ({ ...document, files: [fileOf(subject)] }))
  }),
  putTenant: (body, { tenantId }) => ({ ...body, hosts: [`${tenantId}.example`] }),
  putLimits: () => ({ subscriptions: 150_000, waitingDays: null }),
  createApiKey: (body, { accounts, client }) => ({ ...body, name: client, accounts, expiresAt: "2100-01-01T00:00:00Z" }),
  createPortalLink: (_, { client }) => ({ client, expiresInSeconds: 600, theme: { name: "Acme Freight" } }),
  putPortalContact: () => ({ email: "edi@shipper.example", webhook: null }),
  putSecret: ({ anyClient: _, client: __, rotate: ___, ...body }, { accounts }) => ({ ...body, accounts }),
  editSubscription: () => ({ delivery: { maxAttempts: 7 } }),
  pauseSubscription: () => ({ reason: "The receiver is being moved." }),
  retryDeadLetters: (_, { subscriptionId }) => ({ subscriptionId, since: "2020-01-01T00:00:00Z" }),
  dismissDeadLetters: (_, { subscriptionId }) => ({ subscriptionId, error: "timeout" }),
  purgeSubscriptions: (_, { subscriptionId }) => ({ subscriptionIds: [subscriptionId] }),
  recoverSubscription: () => ({ since: "2020-01-01T00:00:00Z" }),
  replaySubscription: (_, { shipmentId }) => ({ from: "2020-01-01T00:00:00Z", shipmentIds: [shipmentId] }),
  createPickup: (body, subject) => ({ ...pickup(body, subject), requestFunction: "NewPickup", carrierPickupNumber: null }),
  updatePickup: (body, subject) => ({ ...pickup(body, subject), requestFunction: "ModifyExisting", carrierPickupNumber: subject.pickupId }),
  subscribe: (body, { hmacSecretId, poNumber, proNumber, webhookUrl }) => ({ ...body, referenceNumbers: [proNumber, poNumber], webhookUrl, hmacSecretId }),
  createSubscription: (body, { hmacSecretId, shipmentId, webhookUrl }) => ({
    ...body, endpointUrl: webhookUrl, hmacSecretId, filters: { shipmentIds: [shipmentId] }, delivery: { ...body["delivery"], initialBackoffSeconds: 1, maxBackoffSeconds: 60, rateLimitPerMinute: 60_000 }
  }),
  updateSubscription: ({ endpointUrl: _, hmacSecretId: __, ...body }) => ({ ...body, status: "active", delivery: { maxAttempts: 3 } })
}

const paper = (body: Json, { accounts, dot, mc, shipmentId, uniqueID }: Subject) => ({
  uniqueID,
  shipmentID: shipmentId,
  DOT: dot,
  MC: mc,
  attributes: [...listed(body["attributes"], (attribute) => ({ ...attribute, type: "note" })), ...accounts.map((value) => ({ type: "accountNumber", value }))]
})

const invoice = (body: Json, subject: Subject) => ({
  ...body, ...paper(body, subject), invoiceHeader: { ...body["invoiceHeader"], invoiceNumber: subject.invoiceNumber }
})

/** A PDF whose base64 text contains the subject's word, which begins at a multiple of three bytes. */
const fileOf = ({ uniqueID }: Subject): string => Buffer.from(`%PDF-1.7\n${uniqueID}`).toString("base64")

const pickup = (body: Json, { accounts, isTest, proNumber }: Subject): Json => ({
  ...body,
  isTest: isTest ? "True" : "False",
  pickupAddress: listed(body["pickupAddress"], (address) => ({ ...address, orgAccountNumber: accounts[0] })),
  billToAddress: null,
  grossPickupWeight: 1250,
  handlingUnitCount: 2,
  cubicFeet: 107,
  readyDate: `${later}T00:00:00.000`,
  readyTime: `${later}T08:00:00.000`,
  closeTime: `${later}T17:00:00.000`,
  openDate: null,
  openTime: null,
  pickupLocationTimeZone: "UTC-5",
  shipmentDetails: listed(body["shipmentDetails"], (shipment) => ({
    ...shipment,
    proNumber,
    hazmatCheck: false,
    deliveryDateType: null,
    deliveryBeginDate: null,
    deliveryEndDate: null,
    handlingUnitDetails: listed(shipment["handlingUnitDetails"], (unit) => ({ ...unit, unitCount: 2 }))
  })),
  destinationAddress: listed(body["destinationAddress"], (address) => ({ ...address, cneeZip: "M5V 2T6" }))
})

const queries: Readonly<Record<string, (subject: Subject) => Readonly<Record<string, string>>>> = {
  deleteTenant: ({ tenantId }) => ({ confirm: tenantId }),
  listAudit: ({ tenantId }) => ({ tenant: tenantId }),
  listEvents: ({ shipmentId }) => ({ shipmentId }),
  listInvoices: ({ uniqueID }) => ({ uniqueID }),
  listDocuments: ({ invoiceNumber }) => ({ invoiceNumber }),
  getPickup: ({ isTest, pickupId }) => ({ lookupValue: pickupId, lookupType: "PickupConfirmationID", requestType: "PickupStatus", isTest: String(isTest) }),
  listDeliveries: ({ subscriptionId }) => ({ subscriptionId }),
  listPortalDeliveries: ({ subscriptionId }) => ({ subscriptionId }),
  findShipments: ({ shipmentId }) => ({ reference: shipmentId }),
  // without an end, the answer goes by the clock
  getStatistics: () => ({ to: "2026-07-01T00:00:00Z" }),
  explainDelivery: ({ shipmentId, subscriptionId }) => ({ subscriptionId, shipmentId })
}

const param = (name: string, { contract, name: operation }: Operation, subject: Subject): string => {
  const ofCharges = contract.area === "freight-charges" || operation === "resumeSubscription"
  const known: Readonly<Record<string, string>> = {
    ...subject as unknown as Readonly<Record<string, string>>,
    originPostalCode,
    destinationPostalCode,
    accountNumber: subject.accounts[0],
    startDate: "2026-11-01",
    endDate: "2026-11-30",
    id: subject.keyId,
    subscriptionId: ofCharges ? subject.chargeSubscriptionId : subject.subscriptionId,
    document: "pickups.json"
  }
  const value = known[name]
  if (typeof value !== "string") throw new Error(`Calls.ts has no value for {${name}} in ${operation}. Add it to Subject.ts.`)
  return value
}

export const callOf = (operation: Operation, subject: Subject, random: SeededRandom, options?: SpecimenOptions): Call => {
  const { endpoint, name, template } = operation
  const specimen = endpoint.body === undefined ? undefined : specimenOf(endpoint.body.schema)(random, options) as Json
  return {
    method: endpoint.method,
    params: Object.fromEntries(placeholdersOf(template).map((placeholder) => [placeholder, param(placeholder, operation, subject)])),
    query: queries[name]?.(subject) ?? {},
    body: specimen === undefined ? undefined : (dressed[name] ?? ((body: Json) => body))(specimen, subject)
  }
}

export const targetOf = ({ template }: Operation, { params, query }: Pick<Call, "params" | "query">): string => {
  const path = template.replaceAll(/\{([^}]+)\}/g, (_, name: string) => encodeURIComponent(params[name]!))
  const search = new URLSearchParams(query).toString()
  return search === "" ? path : `${path}?${search}`
}

export const contentTypeOf = ({ endpoint }: Operation): string => endpoint.body?.contentTypes?.[0] ?? "application/json"
