/** Client for shipment lookups and status subscriptions (area A). */
import { type Answer, type CallOptions, Connection, type ConnectionOptions } from "../connection/Connection.ts"
import { WaybillCallFailed } from "../connection/WaybillProblem.ts"
import { isObject } from "../shared/ReceivedJson.ts"
import type { PublicShipment, VerifiedShipment } from "./TrackedShipment.ts"

/** Identifies one shipment. Case, blanks and hyphens do not matter. */
export type ShipmentLookup =
  | { readonly proNumber: string }
  | { readonly bolNumber: string; readonly originPostalCode: string }
  | { readonly poNumber: string; readonly destinationPostalCode: string }

/** `public`: the shipment exists, but is on none of the caller's accounts. */
export type FoundShipment =
  | { readonly view: "verified"; readonly shipment: VerifiedShipment }
  | { readonly view: "public"; readonly shipment: PublicShipment }

/** Inclusive range: RFC 3339 with an offset, a `Date`, or a date alone, which means the whole day in UTC. */
export interface PickupRange {
  readonly startDate: string | Date
  readonly endDate: string | Date
}

/** A new subscription to the status of shipments: `POST /notifications/subscribe` of area A. */
export interface StatusSubscriptionCreate {
  /** PRO, BOL, PO and other numbers of shipments to follow; 1 to 1,000. The shipments need not exist yet. */
  readonly referenceNumbers: ReadonlyArray<string>
  /** Target of notifications; https. */
  readonly webhookUrl: string
  /** The secret that signs notifications. Without it, they are signed once a secret is registered for you. */
  readonly hmacSecretId?: string
}

/** Answer to a new subscription. */
export interface StatusSubscribed {
  readonly message: string
  /** Keep it: `unsubscribe` needs it. */
  readonly transactionId: string | number
}

/** Shipment lookups and status subscriptions (area A). Calls reject with `WaybillProblem` when the server refuses, and with `WaybillCallFailed` when there is no usable answer. */
export class ShipmentStatusClient {
  readonly #connection: Connection

  /** `basePath` is `/in-transit/v1` by default. `public` lookups need no credentials. */
  constructor(options: ConnectionOptions) {
    this.#connection = new Connection(options, "/in-transit/v1")
  }

  /** All fields of a shipment on your accounts, or the public fields of any other. */
  async verified(by: ShipmentLookup, options?: CallOptions): Promise<FoundShipment> {
    const answer = await this.#get([...pathOf(by), "verified"], options)
    const shipment = shipmentOf(answer)
    if (answer.status === 200) return { view: "verified", shipment: shipment as VerifiedShipment }
    if (answer.status === 202) return { view: "public", shipment: shipment as PublicShipment }
    throw new WaybillCallFailed(answer.call, "unreadable_answer", `the answer is neither 200 nor 202, but ${answer.status}.`)
  }

  /** The public fields of a shipment; needs neither key nor token. */
  async public(by: ShipmentLookup, options?: CallOptions): Promise<PublicShipment> {
    return shipmentOf(await this.#get([...pathOf(by), "public"], options)) as PublicShipment
  }

  /** Shipments on one of your accounts, by pickup time; empty when there are none. */
  async pickedUp(accountNumber: string, { endDate, startDate }: PickupRange, options?: CallOptions): Promise<ReadonlyArray<VerifiedShipment>> {
    const answer = await this.#get(["shipment", "po", accountNumber, dateText(startDate), dateText(endDate), "verified"], options)
    if (answer.status === 204) return []
    if (Array.isArray(answer.json)) return answer.json as ReadonlyArray<VerifiedShipment>
    throw new WaybillCallFailed(answer.call, "unreadable_answer", "the answer is not a list of shipments.")
  }

  /** Never retried: after a lost response, another call creates another subscription. */
  subscribe(subscription: StatusSubscriptionCreate, options?: CallOptions): Promise<StatusSubscribed> {
    const path = ["notifications", "subscribe"]
    return this.#connection.ask({ method: "POST", path, body: subscription, repeatable: false }, options)
  }

  /** Ends a subscription by its transactionId. */
  async unsubscribe(transactionId: StatusSubscribed["transactionId"], options?: CallOptions): Promise<void> {
    const path = ["notifications", "unsubscribe", String(transactionId)]
    await this.#connection.send({ method: "DELETE", path, repeatable: true }, options)
  }

  #get(path: ReadonlyArray<string>, options: CallOptions | undefined): Promise<Answer> {
    return this.#connection.send({ method: "GET", path, repeatable: true }, options)
  }
}

const pathOf = (by: ShipmentLookup): ReadonlyArray<string> => {
  if ("proNumber" in by) return ["shipment", "pro", by.proNumber]
  if ("bolNumber" in by) return ["shipment", "bol", by.bolNumber, by.originPostalCode]
  return ["shipment", "po", by.poNumber, by.destinationPostalCode]
}

const dateText = (date: string | Date): string => typeof date === "string" ? date : date.toISOString()

const shipmentOf = ({ call, json }: Answer): unknown => {
  if (isObject(json) && typeof json["ProNumber"] === "string") return json
  throw new WaybillCallFailed(call, "unreadable_answer", "the answer is not a shipment: it has no ProNumber.")
}
