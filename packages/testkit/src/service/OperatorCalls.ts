/** Operator calls for tenants, secrets, deliveries and shipments as promises, with the methods of `createWaybill`. */
import { ApiKeys, Clients, Deliveries, Explanations, fault, InvalidInput, ShipmentJourneys, SigningSecrets, Subscriptions, TenantHealths, TenantLimits, TenantRemoval, Tenants, TransitSubscriptions } from "@waybill/core"
import { Effect, Redacted } from "effect"
import type { Run } from "./Run.ts"

type Members = Readonly<Record<string, unknown>>

const needsOwner = (error: unknown): boolean => error instanceof InvalidInput && error.faults.some(({ code, pointer }) => pointer === "" && code === "required")

/** `keep` receives every secret, so that receivers can check signatures. */
export const operatorCallsOf = (run: Run, keep: (secret: string) => void) => ({
  tenants: {
    put: (tenantId: string, settings: { readonly name: string; readonly hosts?: ReadonlyArray<string> }) =>
      run(Effect.flatMap(Tenants, (all) => all.put(tenantId, settings))),
    /** By tenantId: `cursor`, `limit`. */
    list: (query: Members = {}) => run(Effect.flatMap(Tenants, (all) => all.page(query))),
    /** Refuses its callers with `TenantSuspended`, and sends nothing. */
    suspend: (tenantId: string) => run(Effect.flatMap(Tenants, (all) => all.suspend(tenantId))),
    resume: (tenantId: string) => run(Effect.flatMap(Tenants, (all) => all.resume(tenantId))),
    /** Deletes the tenant with all data; `confirm` repeats the id. */
    delete: (tenantId: string, { confirm }: { readonly confirm: string }) =>
      confirm === tenantId
        ? run(Effect.flatMap(TenantRemoval, (removal) => removal.remove(tenantId)))
        : Promise.reject(InvalidInput.of(fault(["confirm"], `To delete the tenant, give confirm: ${JSON.stringify(tenantId)}.`, "required"))),
    /** Delivery health of each tenant, the worst first. */
    health: () => run(Effect.flatMap(TenantHealths, ({ all }) => all))
  },
  apiKeys: {
    /** Returns the key only this once. */
    create: (tenantId: string, request: Members) =>
      run(Effect.flatMap(ApiKeys, (all) => Effect.map(all.create(tenantId, request), ({ id, key }) => ({ id, key: Redacted.value(key) })))),
    /** Never a key itself: `cursor`, `limit`. */
    list: (tenantId: string, query: Members = {}) => run(Effect.flatMap(ApiKeys, (all) => all.list(tenantId, query))),
    revoke: (tenantId: string, id: string) => run(Effect.flatMap(ApiKeys, (all) => all.revoke(tenantId, id)))
  },
  limits: {
    /** All quotas of a tenant, with defaults for unchanged ones. */
    get: (tenantId: string) => run(Effect.flatMap(TenantLimits, (limits) => limits.get(tenantId))),
    /** Changes the given quotas; `null` resets one to its default. Returns all. */
    put: (tenantId: string, change: Members) => run(Effect.flatMap(TenantLimits, (limits) => limits.put(tenantId, change)))
  },
  clients: {
    /** By client: `cursor`, `limit`. */
    list: (tenantId: string, query: Members = {}) => run(Effect.flatMap(Clients, (all) => all.list(tenantId, query))),
    /** Revokes its keys, closes its subscriptions, drops waiting entries and removes its access. A bare name means `key:<name>`. */
    delete: (tenantId: string, client: string) => run(Effect.flatMap(Clients, (all) => all.remove(tenantId, client)))
  },
  secrets: {
    /**
     * Registers or rotates; without `secret` one is generated. `client`, `accounts` or `anyClient: true` name the owner: a new
     * one without any belongs to every client, which a server would refuse.
     */
    put: (tenantId: string, hmacSecretId: string, settings: Members = {}) =>
      run(Effect.flatMap(SigningSecrets, (all) =>
        Effect.map(all.put(tenantId, hmacSecretId, settings).pipe(
          Effect.catchIf(needsOwner, () => all.put(tenantId, hmacSecretId, { ...settings, anyClient: true }))
        ), (put) => {
          const secret = Redacted.value(put.secret)
          keep(secret)
          return { hmacSecretId: put.hmacSecretId, secret }
        }))),
    /** By hmacSecretId: `cursor`, `limit`. Never a secret itself. */
    list: (tenantId: string, query: Members = {}) => run(Effect.flatMap(SigningSecrets, (all) => all.list(tenantId, query))),
    /** Refused while a subscription uses it. */
    delete: (tenantId: string, hmacSecretId: string) => run(Effect.flatMap(SigningSecrets, (all) => all.remove(tenantId, hmacSecretId)))
  },
  deliveries: {
    /** Newest first. Filters: `state`, `subscriptionId`, `client`, `since`; and `order`, `cursor`, `limit`. */
    list: (tenantId: string, query: Members = {}) => run(Effect.flatMap(Deliveries, (all) => all.list(tenantId, query))),
    get: (tenantId: string, deliveryId: string) => run(Effect.flatMap(Deliveries, (all) => all.get(tenantId, deliveryId))),
    /** Sends the same bytes under the same id again. */
    retry: (tenantId: string, deliveryId: string) => run(Effect.flatMap(Deliveries, (all) => all.retry(tenantId, deliveryId))),
    /** A dead letter no longer counts and is not recovered. */
    dismiss: (tenantId: string, deliveryId: string) => run(Effect.flatMap(Deliveries, (all) => all.dismiss(tenantId, deliveryId))),
    /** Retries every dead letter of the subscription since then. Returns their number. */
    recover: (tenantId: string, subscriptionId: string, since: string) => run(Effect.flatMap(Deliveries, (all) => all.recover(tenantId, subscriptionId, { since }))),
    /** Sends history as new deliveries of the same events. Returns the number of events. */
    replay: (tenantId: string, subscriptionId: string, range: { readonly from: string; readonly to?: string; readonly shipmentIds?: ReadonlyArray<string> }) =>
      run(Effect.flatMap(TransitSubscriptions, (all) => all.replay(tenantId, subscriptionId, range)))
  },
  allSubscriptions: {
    /** Subscriptions of every client and area, with their waiting entries: `client`, `state`, `cursor`, `limit`. */
    list: (tenantId: string, query: Members = {}) => run(Effect.flatMap(Subscriptions, (all) => all.list(tenantId, query))),
    /** One of them. */
    get: (tenantId: string, subscriptionId: string) => run(Effect.flatMap(Subscriptions, (all) => all.get(tenantId, subscriptionId))),
    /** Stops sending until `resume`; its client cannot resume it. */
    pause: (tenantId: string, subscriptionId: string, reason: string) =>
      run(Effect.flatMap(Subscriptions, (all) => all.pause(tenantId, subscriptionId, { reason }))),
    resume: (tenantId: string, subscriptionId: string) => run(Effect.flatMap(Subscriptions, (all) => all.resume(tenantId, subscriptionId))),
    /** Drops waiting entries. Returns their number. */
    purge: (tenantId: string, subscriptionId: string) => run(Effect.flatMap(Subscriptions, (all) => all.purge(tenantId, subscriptionId))),
    /** Why it did or did not receive something: `eventId`, `shipmentId` or `pro`. */
    explain: (tenantId: string, subscriptionId: string, subject: Members) =>
      run(Effect.flatMap(Explanations, (all) => all.explain(tenantId, { subscriptionId, ...subject }))),
    /** Deletes it as if its client had done so. */
    remove: (tenantId: string, subscriptionId: string) => run(Effect.flatMap(Subscriptions, (all) => all.remove(tenantId, subscriptionId)))
  },
  journeys: {
    /** Shipments with this shipmentId, PRO, bill of lading or purchase order. */
    find: (tenantId: string, reference: string) =>
      run(Effect.flatMap(ShipmentJourneys, (all) => Effect.map(all.find(tenantId, { reference }), ({ data }) => data))),
    /** The history of a shipment in all areas, and its deliveries. */
    get: (tenantId: string, shipmentId: string) => run(Effect.flatMap(ShipmentJourneys, (all) => all.get(tenantId, shipmentId)))
  }
})

export interface OperatorCalls extends ReturnType<typeof operatorCallsOf> {}
