/** Where the carrier's own system hands in what happened. */
import { type CallOptions, Connection, type ConnectionOptions } from "../connection/Connection.ts"
import type { EventType, TransitEvent } from "../transit-events/TransitEvent.ts"
import type { FreightBillChange } from "./FreightBillChange.ts"
import type { ChargePublication, IntakeReport, ShipmentRegistration, StatusPublication } from "./IntakeReport.ts"
import type { PickupRecord, PickupReported, ReportedPickup } from "./ReportedPickup.ts"
import type { ReportedShipment, ReportedStatus, ShipmentRecord } from "./ReportedShipment.ts"

/** An event as the carrier's system reports it. `eventId` and `sequence` may be left to the service. */
export interface ReportedEvent extends Omit<TransitEvent, "eventId" | "sequence" | "type"> {
  /** Give your own where you have one: only then a repeated call is recognised as the same event. */
  readonly eventId?: string
  readonly sequence?: number
  readonly type: EventType
  /** Who may see the shipment. */
  readonly parties?: { readonly accounts: ReadonlyArray<string> }
}

export interface PublishOptions extends CallOptions {
  /** Accept the good items and report the bad ones. Without it one bad item refuses the whole call. */
  readonly partial?: boolean | undefined
}

export interface IntakeClientOptions extends ConnectionOptions {
  /** Where intake lives below `baseUrl`. Default `/intake/v1`. */
  readonly basePath?: string | undefined
}

/** Calls with a list take up to 1,000 items in one transaction. */
export class IntakeClient {
  readonly #connection: Connection

  constructor(options: IntakeClientOptions) {
    this.#connection = new Connection(options, options.basePath ?? "/intake/v1")
  }

  /**
   * Hands in events. The status of their shipments follows.
   *
   * Sent again after a lost answer only when every event has its own `eventId`, because then the second time changes
   * nothing. Without ids it is sent once, and a failure leaves open whether the events were taken.
   */
  publishTransitEvents(events: ReadonlyArray<ReportedEvent>, options?: PublishOptions): Promise<IntakeReport> {
    return this.#report("transit-events", { events }, events.every((event) => event.eventId !== undefined), options)
  }

  /** Makes shipments known, so that they can be looked up and followed, or replaces what was said of them. */
  registerShipments(shipments: ReadonlyArray<ReportedShipment>, options?: PublishOptions): Promise<IntakeReport<ShipmentRegistration>> {
    return this.#report("shipments", { shipments }, true, options)
  }

  /**
   * Hands in movement and information of shipments, for lookups, followers and the event log at once. A move that a
   * shipment cannot make is refused, and the fault says why.
   */
  reportStatus(updates: ReadonlyArray<ReportedStatus>, options?: PublishOptions): Promise<IntakeReport<StatusPublication>> {
    return this.#report("status-updates", { updates }, true, options)
  }

  /**
   * Hands in what happened to freight bills.
   *
   * Sent again after a lost answer only when every change says which version it makes (`header.function`): another
   * change that came in between would otherwise be undone.
   */
  publishFreightCharges(charges: ReadonlyArray<FreightBillChange>, options?: PublishOptions): Promise<IntakeReport<ChargePublication>> {
    return this.#report("freight-charges", { charges }, charges.every(({ pfc }) => pfc.pfc.header?.function !== undefined), options)
  }

  /** All that is known of a shipment: its fields, who may see it, and what became of every report. */
  async getShipmentRecord(shipmentId: string, options?: CallOptions): Promise<ShipmentRecord> {
    const answer = await this.#connection.send({ method: "GET", path: ["shipments", shipmentId], repeatable: true }, options)
    return answer.json as ShipmentRecord
  }

  /**
   * Says what became of a pickup, by its `carrierPickupNumber`, or by the service's own id while it has none. A move that it
   * cannot make is refused, and the fault says why. The same as the last report again is a duplicate.
   */
  async reportPickupStatus(pickupId: string, report: ReportedPickup, options?: CallOptions): Promise<PickupReported> {
    const path = ["pickups", pickupId, "status"]
    const answer = await this.#connection.send({ method: "POST", path, body: report, repeatable: true }, options)
    return answer.json as PickupReported
  }

  /** All that is known of a pickup: what was asked for, what can be seen of it, and everything that happened. */
  async getPickupRecord(pickupId: string, options?: CallOptions): Promise<PickupRecord> {
    const answer = await this.#connection.send({ method: "GET", path: ["pickups", pickupId], repeatable: true }, options)
    return answer.json as PickupRecord
  }

  async #report<Result>(kind: string, body: object, repeatable: boolean, options: PublishOptions = {}): Promise<IntakeReport<Result>> {
    const query = { partial: options.partial === true ? true : undefined }
    const answer = await this.#connection.send({ method: "POST", path: [kind], query, body, repeatable }, options)
    return answer.json as IntakeReport<Result>
  }
}
