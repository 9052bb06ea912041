/** Names of the ids and other texts that methods take after the caller or the tenant, for hosts without types: `undefined` or the number of a row reaches no store. */
import { fault, InvalidInput } from "@waybill/core"
import type { Waybill } from "./Waybill.ts"

type TakesText<Method> = Method extends (first: never, second: infer Second, ...more: never) => unknown ? [Second] extends [string] ? true : false : false

/** Complete by its type, so that a new method cannot be forgotten. */
type TextArguments = {
  readonly [Group in keyof Waybill as true extends TakesText<Waybill[Group][keyof Waybill[Group]]> ? Group : never]: {
    readonly [Name in keyof Waybill[Group] as TakesText<Waybill[Group][Name]> extends true ? Name : never]: string
  }
}

const subscription = { get: "subscriptionId", patch: "subscriptionId", remove: "subscriptionId" }

const textArguments: TextArguments = {
  statusSubscriptions: { unsubscribe: "transactionId" },
  shipments: { record: "shipmentId" },
  invoices: { replace: "uniqueID", remove: "uniqueID", get: "uniqueID", history: "uniqueID" },
  documents: { remove: "invoiceNumber", get: "invoiceNumber", history: "invoiceNumber" },
  pickups: { update: "carrierPickupNumber", cancel: "pickupId", report: "pickupId", decide: "pickupId", record: "pickupId" },
  pickupSubscriptions: subscription,
  subscriptions: subscription,
  chargeSubscriptions: { get: "subscriptionId", cancel: "subscriptionId", inFlight: "subscriptionId" },
  apiKeys: { revoke: "id" },
  clients: { delete: "client" },
  secrets: { put: "hmacSecretId", delete: "hmacSecretId" },
  deliveries: { get: "deliveryId", retry: "deliveryId", dismiss: "deliveryId", recover: "subscriptionId", replay: "subscriptionId" },
  allPickups: { decide: "pickupId" },
  allSubscriptions: {
    get: "subscriptionId",
    edit: "subscriptionId",
    pause: "subscriptionId",
    resume: "subscriptionId",
    purge: "subscriptionId",
    explain: "subscriptionId",
    remove: "subscriptionId"
  },
  journeys: { find: "reference", get: "shipmentId" },
  portal: {
    subscription: "subscriptionId",
    pause: "subscriptionId",
    resume: "subscriptionId",
    test: "subscriptionId",
    delivery: "deliveryId",
    retry: "deliveryId",
    rotateSecret: "hmacSecretId"
  }
}

/** The refusal of a second argument that has to be a text and is none. */
export const missingText = (group: string, method: string, second: unknown): InvalidInput | undefined => {
  const name = (textArguments as Readonly<Record<string, Readonly<Record<string, string>>>>)[group]?.[method]
  if (name === undefined || typeof second === "string") return undefined
  return InvalidInput.of(fault([name], `The second argument of ${group}.${method} is the ${name}, a text. It got ${second === null ? "null" : typeof second}.`, second === undefined ? "required" : "invalid"))
}
