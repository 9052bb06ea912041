/** Client of the intake interface, with which the carrier's system publishes events, shipments, bills and pickup reports. */
import { callKinds, type CallOptions, Connection, type ConnectionOptions } from "../connection/Connection.ts"
import type { PageQuery } from "../connection/CursorPages.ts"
import { checkOptions, type OptionKinds, optionKinds } from "../shared/CheckOptions.ts"
import type { EventType, TransitEvent } from "../transit-events/TransitEvent.ts"
import type { FreightBillChange } from "./FreightBillChange.ts"
import type { ChargePublication, IntakeReport, ShipmentRegistration, StatusPublication } from "./IntakeReport.ts"
import type {
  PickupChangeQuery,
  PickupChanges,
  PickupDecision,
  PickupRecord,
  PickupReported,
  PickupSubscription,
  PickupSubscriptionCreate,
  PickupSubscriptionPatch,
  PickupSubscriptionsPage,
  ReportedPickup
} from "./ReportedPickup.ts"
import type { ReportedShipment, ReportedStatus, ShipmentRecord } from "./ReportedShipment.ts"

/** An event as the carrier's system reports it. The service assigns an absent `eventId` or `sequence`. */
export interface ReportedEvent extends Omit<TransitEvent, "eventId" | "sequence" | "type"> {
  /** Give your own id where you have one: the service recognizes duplicates only by it. */
  readonly eventId?: string
  readonly sequence?: number
  readonly type: EventType
  /** Who may see the shipment. */
  readonly parties?: { readonly accounts: ReadonlyArray<string> }
}

/** Options of a call that takes a list of items. */
export interface PublishOptions extends CallOptions {
  /** Accept the valid items and report the invalid ones. Without it, one invalid item refuses the whole call. */
  readonly partial?: boolean | undefined
}

const publishKinds: OptionKinds<PublishOptions> = { ...callKinds, partial: optionKinds.boolean }

/** Calls with a list accept up to 1,000 items, in one transaction. */
export class IntakeClient {
  readonly #connection: Connection

  /** `basePath` is `/intake/v1` by default. */
  constructor(options: ConnectionOptions) {
    this.#connection = new Connection(options, "/intake/v1")
  }

  /**
   * Publishes events and updates the status of their shipments.
   *
   * Retried after a lost response only when every event has an `eventId`, because only then a retry changes nothing.
   * Without ids it is sent once, and after a failure the events may or may not have been stored.
   */
  publishTransitEvents(events: ReadonlyArray<ReportedEvent>, options?: PublishOptions): Promise<IntakeReport> {
    return this.#report("transit-events", { events }, events.every((event) => event.eventId !== undefined), options)
  }

  /** Registers shipments, so that they can be looked up and subscribed to, or replaces what was registered before. */
  registerShipments(shipments: ReadonlyArray<ReportedShipment>, options?: PublishOptions): Promise<IntakeReport<ShipmentRegistration>> {
    return this.#report("shipments", { shipments }, true, options)
  }

  /**
   * Publishes movements and information of shipments to lookups, subscribers and the event log. A transition that is
   * not permitted is refused, and the error says why.
   */
  reportStatus(updates: ReadonlyArray<ReportedStatus>, options?: PublishOptions): Promise<IntakeReport<StatusPublication>> {
    return this.#report("status-updates", { updates }, true, options)
  }

  /**
   * Publishes changes of freight bills.
   *
   * Retried after a lost response only when every change names its version (`header.function`). Without versions, a
   * retry could undo a change by another client.
   */
  publishFreightCharges(charges: ReadonlyArray<FreightBillChange>, options?: PublishOptions): Promise<IntakeReport<ChargePublication>> {
    return this.#report("freight-charges", { charges }, charges.every(({ pfc }) => pfc.pfc.header?.function !== undefined), options)
  }

  /** The complete record of a shipment: its fields, the accounts with access, and the outcome of every report; of a history of more than 8 MB the newest part. */
  getShipmentRecord(shipmentId: string, options?: CallOptions): Promise<ShipmentRecord> {
    return this.#connection.ask({ method: "GET", path: ["shipments", shipmentId], repeatable: true }, options)
  }

  /**
   * Reports the progress of a pickup, by `carrierPickupNumber`, or by the service's own id until it has one. A
   * transition that is not permitted is refused, and the error says why. Repeating the last report is a duplicate.
   */
  reportPickupStatus(pickupId: string, report: ReportedPickup, options?: CallOptions): Promise<PickupReported> {
    const path = ["pickups", pickupId, "status"]
    return this.#connection.ask({ method: "POST", path, body: report, repeatable: true }, options)
  }

  /**
   * Decides on a pickup that waits for it, by the service's own id. Rejects with status 409 if it is decided already, which a retry after
   * a lost response may meet too.
   */
  decidePickup(pickupId: string, decision: PickupDecision, options?: CallOptions): Promise<PickupReported> {
    const path = ["pickups", pickupId, "decision"]
    return this.#connection.ask({ method: "POST", path, body: decision, repeatable: true }, options)
  }

  /** The work list: every order, change, cancellation, decision and report of pickups once, in order. */
  async listPickupChanges({ since, ...query }: PickupChangeQuery = {}, options?: CallOptions): Promise<PickupChanges> {
    const asked = { ...query, since: since instanceof Date ? since.toISOString() : since }
    return await this.#connection.ask({ method: "GET", path: ["pickups"], query: asked, repeatable: true }, options)
  }

  /** Everything known about a pickup: the request, its visibility, and its history. */
  getPickupRecord(pickupId: string, options?: CallOptions): Promise<PickupRecord> {
    return this.#connection.ask({ method: "GET", path: ["pickups", pickupId], repeatable: true }, options)
  }

  /** Sends the entries of the work list as webhooks. Never retried: after a lost response, list the subscriptions before you create another. */
  createSubscription(subscription: PickupSubscriptionCreate, options?: CallOptions): Promise<PickupSubscription> {
    return this.#connection.ask({ method: "POST", path: ["subscriptions"], body: subscription, repeatable: false }, options)
  }

  /** This client's own subscriptions, sorted by id. */
  listSubscriptions(query: PageQuery = {}, options?: CallOptions): Promise<PickupSubscriptionsPage> {
    return this.#connection.ask({ method: "GET", path: ["subscriptions"], query: { ...query }, repeatable: true }, options)
  }

  getSubscription(subscriptionId: string, options?: CallOptions): Promise<PickupSubscription> {
    return this.#connection.ask({ method: "GET", path: ["subscriptions", subscriptionId], repeatable: true }, options)
  }

  /** Changes only the fields of the patch. Never retried, because another client may have changed it meanwhile. */
  updateSubscription(subscriptionId: string, patch: PickupSubscriptionPatch, options?: CallOptions): Promise<PickupSubscription> {
    const path = ["subscriptions", subscriptionId]
    return this.#connection.ask({ method: "PATCH", path, body: patch, contentType: "application/merge-patch+json", repeatable: false }, options)
  }

  /** Deletes the subscription and stops its deliveries. */
  async deleteSubscription(subscriptionId: string, options?: CallOptions): Promise<void> {
    await this.#connection.send({ method: "DELETE", path: ["subscriptions", subscriptionId], repeatable: true }, options)
  }

  async #report<Result>(kind: string, body: object, repeatable: boolean, options: PublishOptions = {}): Promise<IntakeReport<Result>> {
    checkOptions("publishing", options, publishKinds)
    const { partial, ...rest } = options
    const query = { partial: partial === true ? true : undefined }
    return await this.#connection.ask({ method: "POST", path: [kind], query, body, repeatable }, rest)
  }
}
