/** Shipment status, transit events and freight charges as promises, with the methods of `createWaybill`. */
import {
  type BillChangeReport,
  type BillRemovalReport,
  type ChargeSubscriptionCreate,
  ChargeSubscriptions,
  FreightChargeIntake,
  type IntakeOptions,
  type LookupBy,
  type PostedShipment,
  type PreliminaryFreightCharge,
  type PublicShipment,
  type ReportedEvent,
  ShipmentIntake,
  ShipmentStatuses,
  type ShipmentView,
  StatusSubscriptions,
  type StatusUpdate,
  StatusUpdateIntake,
  type SubscribeRequest,
  type SubscriptionCreate,
  type SubscriptionPatch,
  type TransitEvent,
  TransitEventIntake,
  TransitEvents,
  TransitSubscriptions,
  type VerifiedShipment
} from "@waybill/core"
import { Effect, Stream } from "effect"
import { type Caller, principalOf } from "./Caller.ts"
import { parsed, type Run } from "./Run.ts"

/** Area D. */
export const transitEventCallsOf = (run: Run) => ({
  events: {
    /** One bad event rejects the whole call unless `partial`. */
    publish: (caller: Caller, events: ReadonlyArray<ReportedEvent>, options: IntakeOptions = {}) =>
      run(Effect.flatMap(TransitEventIntake, (all) => Effect.map(all.report(principalOf(caller), { events }, options), ({ results }) => results))),
    /** Events that the caller may see, by shipmentId, sequence and eventId. */
    list: (caller: Caller, query: Readonly<Record<string, unknown>> = {}) =>
      run(Effect.flatMap(TransitEvents, (all) =>
        Effect.map(all.list(principalOf(caller), query), (page) => ({ ...page, data: page.data.map((event) => parsed<TransitEvent>(event)) }))))
  },
  subscriptions: {
    create: (caller: Caller, subscription: SubscriptionCreate) => run(Effect.flatMap(TransitSubscriptions, (all) => all.create(principalOf(caller), subscription))),
    list: (caller: Caller, query: Readonly<Record<string, unknown>> = {}) => run(Effect.flatMap(TransitSubscriptions, (all) => all.list(principalOf(caller), query))),
    get: (caller: Caller, id: string) => run(Effect.flatMap(TransitSubscriptions, (all) => all.get(principalOf(caller), id))),
    /** JSON merge patch. */
    patch: (caller: Caller, id: string, patch: typeof SubscriptionPatch.Type) => run(Effect.flatMap(TransitSubscriptions, (all) => all.patch(principalOf(caller), id, patch))),
    remove: (caller: Caller, id: string) => run(Effect.flatMap(TransitSubscriptions, (all) => all.remove(principalOf(caller), id)))
  }
})

/** Area A. */
export const shipmentStatusCallsOf = (run: Run) => ({
  shipments: {
    /** Registers shipments, or replaces their fields. */
    register: (caller: Caller, shipments: ReadonlyArray<PostedShipment>, options: IntakeOptions = {}) =>
      run(Effect.flatMap(ShipmentIntake, (all) => Effect.map(all.report(principalOf(caller), { shipments }, options), ({ results }) => results))),
    /** Reports status updates, which also update lookups, notify subscribers and enter the event log. */
    report: (caller: Caller, updates: ReadonlyArray<StatusUpdate>, options: IntakeOptions = {}) =>
      run(Effect.flatMap(StatusUpdateIntake, (all) => Effect.map(all.report(principalOf(caller), { updates }, options), ({ results }) => results))),
    /** Every field of the caller's own shipment; four fields of others. */
    verified: (caller: Caller, by: LookupBy) =>
      run(Effect.flatMap(ShipmentStatuses, (all) =>
        Effect.map(all.verified(principalOf(caller), by), (found) =>
          found._tag === "Verified"
            ? { own: true as const, shipment: parsed<VerifiedShipment>(found.body.bytes) }
            : { own: false as const, shipment: parsed<PublicShipment>(found.body.bytes) }))),
    public: ({ client = "somebody", tenantId }: { readonly tenantId: string; readonly client?: string }, by: LookupBy) =>
      run(Effect.flatMap(ShipmentStatuses, (all) => Effect.map(all.public({ tenantId, client }, by), ({ bytes }) => parsed<PublicShipment>(bytes)))),
    /** An account's shipments by pickup date; the range is inclusive. */
    pickedUp: (caller: Caller, range: { readonly accountNumber: string; readonly startDate: string; readonly endDate: string }) =>
      run(Effect.flatMap(ShipmentStatuses, (all) =>
        Effect.map(all.pickedUp(principalOf(caller), range), (found) => found.map(({ bytes }) => parsed<VerifiedShipment>(bytes))))),
    /** All data of a shipment, for carriers. */
    record: (caller: Caller, shipmentId: string) =>
      run(Effect.flatMap(ShipmentStatuses, (all) =>
        Effect.map(all.record(principalOf(caller), shipmentId), (record) => ({ ...record, shipment: parsed<ShipmentView>(record.shipment.bytes) }))))
  },
  statusSubscriptions: {
    subscribe: (caller: Caller, subscription: SubscribeRequest) => run(Effect.flatMap(StatusSubscriptions, (all) => all.subscribe(principalOf(caller), subscription))),
    unsubscribe: (caller: Caller, transactionId: string) => run(Effect.flatMap(StatusSubscriptions, (all) => all.unsubscribe(principalOf(caller), transactionId)))
  }
})

/** Area E. */
export const freightChargeCallsOf = (run: Run) => ({
  freightCharges: {
    /** One bad change rejects the whole call unless `partial`. */
    publish: (caller: Caller, charges: ReadonlyArray<BillChangeReport | BillRemovalReport>, options: IntakeOptions = {}) =>
      run(Effect.flatMap(FreightChargeIntake, (all) => Effect.map(all.report(principalOf(caller), { charges }, options), ({ results }) => results)))
  },
  chargeSubscriptions: {
    create: (caller: Caller, subscription: ChargeSubscriptionCreate) => run(Effect.flatMap(ChargeSubscriptions, (all) => all.create(principalOf(caller), subscription))),
    get: (caller: Caller, id: string) => run(Effect.flatMap(ChargeSubscriptions, (all) => all.get(principalOf(caller), id))),
    cancel: (caller: Caller, id: string) => run(Effect.flatMap(ChargeSubscriptions, (all) => all.cancel(principalOf(caller), id))),
    /** The bills in flight when the subscription was created. */
    inFlight: (caller: Caller, id: string) =>
      run(Effect.flatMap(ChargeSubscriptions, (all) =>
        Effect.map(Effect.flatMap(all.inFlight(principalOf(caller), id), Stream.runCollect), (bills) => bills.map((bill) => parsed<PreliminaryFreightCharge>(bill))))),
    testWebhook: (caller: Caller, test: { readonly webhookUrl: string; readonly hmacSecretId?: string }) =>
      run(Effect.flatMap(ChargeSubscriptions, (all) => all.testWebhook(principalOf(caller), test)))
  }
})

export interface ShipmentStatusCalls extends ReturnType<typeof shipmentStatusCallsOf> {}

export interface TransitEventCalls extends ReturnType<typeof transitEventCallsOf> {}

export interface FreightChargeCalls extends ReturnType<typeof freightChargeCallsOf> {}
