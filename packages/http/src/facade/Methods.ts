/** The host's methods over core's use cases. */
import {
  FreightChargeIntake,
  type IntakeOptions,
  type IntakeResults,
  type InvalidInput,
  type ItemResult,
  mapPaced,
  maxItemsPerCall,
  type NotPermitted,
  type Principal,
  ShipmentIntake,
  StatusUpdateIntake,
  type StorageError,
  Tenants,
  TransitEventIntake
} from "@waybill/core"
import { ChargeSubscriptions } from "@waybill/core/freight-charges"
import { ShipmentStatuses, StatusSubscriptions } from "@waybill/core/shipment-status"
import { TransitSubscriptions } from "@waybill/core/transit-events"
import { type Context, Effect, Stream } from "effect"
import type { HostPrincipal } from "../access/AuthenticatorHost.ts"
import { anonymousClientNamed } from "../access/ClientAddress.ts"
import { existingTenant } from "../operator/ExistingTenant.ts"
import type { ServiceFailure } from "../shared/ProblemOf.ts"
import type { WebhookTestMethods } from "./ChargeMethods.ts"
import { documentCallsOf, invoiceCallsOf } from "./InvoiceCalls.ts"
import { pickupCallsOf, pickupSubscriptionCallsOf } from "./PickupCalls.ts"
import { plain, plainItems } from "./Plain.ts"
import { type Around, as, type CallServices, type Run, served } from "./Run.ts"
import type { LookupMethods } from "./ShipmentMethods.ts"
import type { WaybillWithin } from "./Waybill.ts"

export const ofTenant = <I, S, A, E, R>(tenantId: string, service: Context.Key<I, S>, call: (service: S) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(Tenants, (tenants) => existingTenant(tenants)(tenantId, Effect.flatMap(service, call)))

/** Methods that can join a transaction; `around` makes them do so. */
export const methodsOf = (run: Run, around: Around): WaybillWithin => {
  const subscriptions = <A, E extends ServiceFailure>(
    said: HostPrincipal,
    call: (subscriptions: TransitSubscriptions["Service"], principal: Principal) => Effect.Effect<A, E>
  ) => run(around(as(said, TransitSubscriptions, call)))

  const report = <I extends CallServices, Item, Key>(
    said: HostPrincipal,
    intake: Context.Key<I, Intake<Item, Key>>,
    items: ReadonlyArray<unknown>,
    options: IntakeOptions = {}
  ): Promise<ReadonlyArray<ItemResult<Key>>> =>
    run(around(Effect.map(
      as(said, intake, (found, principal) =>
        Effect.flatMap(plainItems<Item>(items, maxItemsPerCall), (plainList) => found.report(principal, plainList, options))),
      ({ results }) => results
    )))

  return {
    events: { publish: (said, events, options) => report(said, TransitEventIntake, events, options) },
    subscriptions: {
      create: (said, subscription) => subscriptions(said, (all, principal) => all.create(principal, plain(subscription))),
      list: (said, query = {}) => subscriptions(said, (all, principal) => all.list(principal, plain(query))),
      get: (said, id) => subscriptions(said, (all, principal) => all.get(principal, id)),
      patch: (said, id, patch) => subscriptions(said, (all, principal) => all.patch(principal, id, plain(patch))),
      remove: (said, id) => subscriptions(said, (all, principal) => all.remove(principal, id))
    },
    shipments: {
      register: (said, shipments, options) => report(said, ShipmentIntake, shipments, options),
      report: (said, updates, options) => report(said, StatusUpdateIntake, updates, options)
    },
    statusSubscriptions: {
      subscribe: (said, subscription) => run(around(as(said, StatusSubscriptions, (all, principal) => all.subscribe(principal, plain(subscription))))),
      unsubscribe: (said, id) => run(around(as(said, StatusSubscriptions, (all, principal) => all.unsubscribe(principal, id))))
    },
    freightCharges: { publish: (said, charges, options) => report(said, FreightChargeIntake, charges, options) },
    chargeSubscriptions: {
      create: (said, subscription) => run(around(as(said, ChargeSubscriptions, (all, principal) => all.create(principal, plain(subscription))))),
      get: (said, id) => run(around(as(said, ChargeSubscriptions, (all, principal) => all.get(principal, id)))),
      cancel: (said, id) => run(around(as(said, ChargeSubscriptions, (all, principal) => all.cancel(principal, id)))),
      inFlight: (said, id) => run(around(Effect.flatMap(as(said, ChargeSubscriptions, (all, principal) => all.inFlight(principal, id)), (bills) =>
        Effect.map(Stream.runCollect(Stream.mapEffect(Stream.chunks(bills), (some) => mapPaced(some, parsed))), (pieces) => pieces.flat()))))
    },
    invoices: invoiceCallsOf(run, around),
    documents: documentCallsOf(run, around),
    pickups: pickupCallsOf(run, around),
    pickupSubscriptions: pickupSubscriptionCallsOf(run, around)
  }
}

/** Signature of all intake calls of core. */
interface Intake<Item, Key> {
  readonly report: (
    principal: Principal,
    items: ReadonlyArray<Item>,
    options?: IntakeOptions
  ) => Effect.Effect<IntakeResults<Key>, InvalidInput | NotPermitted | StorageError>
}

/** Reads; they join no transaction. */
export const lookupsOf = (run: Run): LookupMethods => ({
  verified: (said, by) =>
    run(Effect.map(as(said, ShipmentStatuses, (all, principal) => all.verified(principal, by)), (found) =>
      found._tag === "Verified" ? { own: true, shipment: parsed(found.body.bytes) } : { own: false, shipment: parsed(found.body.bytes) })),
  public: ({ client = "", tenantId }, by) =>
    run(Effect.map(ofTenant(tenantId, ShipmentStatuses, (all) => Effect.andThen(served(tenantId), all.public({ tenantId, client: anonymousClientNamed(client) }, by))), ({ bytes }) => parsed(bytes))),
  pickedUp: (said, range) =>
    run(Effect.flatMap(as(said, ShipmentStatuses, (all, principal) => all.pickedUp(principal, plain(range))), (found) => mapPaced(found, ({ bytes }) => parsed(bytes)))),
  record: (said, shipmentId) =>
    run(Effect.map(as(said, ShipmentStatuses, (all, principal) => all.record(principal, shipmentId)), (record) => ({
      ...record,
      shipment: parsed(record.shipment.bytes)
    })))
})

/** Waits for the receiver's server, so it joins no transaction. */
export const webhookTestOf = (run: Run): WebhookTestMethods => ({
  testWebhook: (said, test) => run(as(said, ChargeSubscriptions, (all, principal) => all.testWebhook(principal, plain(test))))
})

const decoder = new TextDecoder()

const parsed = (bytes: Uint8Array) => JSON.parse(decoder.decode(bytes))
