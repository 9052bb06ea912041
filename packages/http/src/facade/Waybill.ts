/** The service as promises: the result of `createWaybill`. */
import type {
  ApiKeyRequest,
  DeliveryBodyView,
  Publication,
  ReportedEvent,
  SubscriptionCreate,
  SubscriptionPatch,
  SubscriptionStatus,
  Tenant,
  TransitEvent,
  TransitSubscription
} from "@waybill/core"
import type { HostPrincipal } from "../access/AuthenticatorHost.ts"
import type { ChargeMethods, ChargeSubscriptionMethods, WebhookTestMethods } from "./ChargeMethods.ts"
import type { DocumentReadMethods, DocumentWriteMethods, InvoiceReadMethods, InvoiceWriteMethods } from "./InvoiceMethods.ts"
import type { PickupMethods, PickupReadMethods } from "./PickupMethods.ts"
import type { AllSubscriptionsMethods, DeliveriesPage, DeliveriesQuery, HealthMethods, JourneyMethods, AuditMethods, LimitMethods, PageQuery, ApiKeysPage, ClientMethods, SecretMethods, TenantsPage } from "./OperatorMethods.ts"
import type { LookupMethods, ReportMethods, StatusSubscriptionMethods } from "./ShipmentMethods.ts"

export type * from "./ChargeMethods.ts"
export type * from "./InvoiceMethods.ts"
export type * from "./OperatorMethods.ts"
export type { HostPickupDesk, PickupInput, PickupMethods, PickupReadMethods } from "./PickupMethods.ts"
export type * from "./ShipmentMethods.ts"

export interface EventsPage {
  readonly data: ReadonlyArray<TransitEvent>
  readonly page: number
  readonly pageSize: number
  /** `null` when counting is too expensive. */
  readonly totalPages: number | null
  readonly totalCount: number | null
  readonly hasMore: boolean
  /** Pass it as `cursor` with the number of the next page, so that new events do not shift the pages. */
  readonly nextCursor: string | undefined
}

export interface SubscriptionsPage {
  readonly data: ReadonlyArray<TransitSubscription>
  readonly page: number
  readonly pageSize: number
  readonly totalPages: number | null
  readonly totalCount: number | null
  readonly hasMore: boolean
}

export interface EventListQuery {
  readonly shipmentId?: string
  readonly eventTypes?: ReadonlyArray<string>
  /** RFC 3339 with an offset, or a `Date`. */
  readonly occurredFrom?: string | Date
  readonly occurredTo?: string | Date
  readonly page?: number
  readonly pageSize?: number
  readonly order?: "asc" | "desc"
  readonly cursor?: string
}

export interface SubscriptionListQuery {
  readonly status?: typeof SubscriptionStatus.Type
  readonly page?: number
  readonly pageSize?: number
}

export interface PublishMethods {
  /**
   * Stores events and queues them for every matching subscription, in one transaction. One invalid event refuses the
   * whole call unless `partial`. The same content with the same `eventId` is a `duplicate` and changes nothing.
   */
  readonly publish: (
    principal: HostPrincipal,
    events: ReadonlyArray<ReportedEvent>,
    options?: { readonly partial?: boolean }
  ) => Promise<ReadonlyArray<Publication>>
}

export interface SubscriptionMethods {
  readonly create: (principal: HostPrincipal, subscription: SubscriptionCreate) => Promise<TransitSubscription>
  readonly list: (principal: HostPrincipal, query?: SubscriptionListQuery) => Promise<SubscriptionsPage>
  readonly get: (principal: HostPrincipal, subscriptionId: string) => Promise<TransitSubscription>
  /** JSON merge patch: absent members stay, `null` resets a member to its default. */
  readonly patch: (principal: HostPrincipal, subscriptionId: string, patch: typeof SubscriptionPatch.Type) => Promise<TransitSubscription>
  readonly remove: (principal: HostPrincipal, subscriptionId: string) => Promise<void>
}

/** Methods that can join a transaction of the host. */
export interface WaybillWithin {
  readonly events: PublishMethods
  readonly subscriptions: SubscriptionMethods
  readonly shipments: ReportMethods
  readonly statusSubscriptions: StatusSubscriptionMethods
  readonly freightCharges: ChargeMethods
  readonly chargeSubscriptions: ChargeSubscriptionMethods
  readonly invoices: InvoiceWriteMethods
  readonly documents: DocumentWriteMethods
  readonly pickups: PickupMethods
}

/** How a request reached the host. */
export interface HandlerOptions {
  /** The path prefix that a router already matched, such as `/api/freight`. */
  readonly mountPath?: string
  /** The remote address of the connection; public lookups are counted by it. */
  readonly remoteAddress?: string | undefined
  /** The framework's own request or context; the second argument of `authenticate`. */
  readonly host?: unknown
}

/** Every method rejects with `WaybillError`. */
export interface Waybill {
  readonly events: PublishMethods & {
    /** Events that the principal has access to, by shipmentId, sequence and eventId. */
    readonly list: (principal: HostPrincipal, query?: EventListQuery) => Promise<EventsPage>
  }
  readonly subscriptions: SubscriptionMethods
  readonly shipments: ReportMethods & LookupMethods
  readonly statusSubscriptions: StatusSubscriptionMethods
  readonly freightCharges: ChargeMethods
  readonly chargeSubscriptions: ChargeSubscriptionMethods & WebhookTestMethods
  readonly invoices: InvoiceWriteMethods & InvoiceReadMethods
  readonly documents: DocumentWriteMethods & DocumentReadMethods
  readonly pickups: PickupMethods & PickupReadMethods
  readonly tenants: HealthMethods & {
    /** Creates the tenant, or changes its name and hosts. */
    readonly put: (tenantId: string, settings: { readonly name: string; readonly hosts?: ReadonlyArray<string> }) => Promise<Tenant>
    /** Ordered by tenantId. */
    readonly list: (query?: PageQuery) => Promise<TenantsPage>
    /** Refuses all its callers with `tenant_suspended` and sends nothing, in every process at once. */
    readonly suspend: (tenantId: string) => Promise<Tenant>
    readonly resume: (tenantId: string) => Promise<Tenant>
    /**
     * Deletes the tenant and all its data; `confirm` repeats the id. Callers are refused at once; a started process
     * removes the data in the background.
     */
    readonly delete: (tenantId: string, options: { readonly confirm: string }) => Promise<void>
  }
  readonly audit: AuditMethods
  readonly limits: LimitMethods
  readonly apiKeys: {
    /** The key is returned only once. */
    readonly create: (tenantId: string, request: ApiKeyRequest) => Promise<{ readonly id: string; readonly key: string }>
    /** Never returns a key's value. */
    readonly list: (tenantId: string, query?: PageQuery) => Promise<ApiKeysPage>
    readonly revoke: (tenantId: string, id: string) => Promise<void>
  }
  readonly clients: ClientMethods
  readonly secrets: SecretMethods
  readonly deliveries: {
    /** Newest first by default. */
    readonly list: (tenantId: string, query?: DeliveriesQuery) => Promise<DeliveriesPage>
    readonly get: (tenantId: string, deliveryId: string) => Promise<DeliveryBodyView>
    /** Sends the same bytes with the same id again. */
    readonly retry: (tenantId: string, deliveryId: string) => Promise<void>
    /** Dismisses a dead letter: it is no longer counted or recovered. It can still be retried. */
    readonly dismiss: (tenantId: string, deliveryId: string) => Promise<void>
    /** Sends every dead letter of the subscription since then again, with the same ids. Returns their number. */
    readonly recover: (tenantId: string, subscriptionId: string, since: string | Date) => Promise<number>
    /** Sends past events again as new deliveries. Returns the number of events. */
    readonly replay: (tenantId: string, subscriptionId: string, range: {
      readonly from: string | Date
      readonly to?: string | Date
      readonly shipmentIds?: ReadonlyArray<string>
    }) => Promise<number>
  }
  readonly allSubscriptions: AllSubscriptionsMethods
  readonly journeys: JourneyMethods
  /** Answers HTTP requests: every area, `/operator`, probes and documentation. Never rejects. */
  readonly handler: (request: Request, options?: HandlerOptions) => Promise<Response>
  /** The part of `handler` for customers and carriers: the areas, intake, probes, and their OpenAPI document. 404 for all else. */
  readonly customerHandler: (request: Request, options?: HandlerOptions) => Promise<Response>
  /** The part of `handler` for operators: `/operator`, `/metrics`, `/docs`, probes, and the full OpenAPI document. 404 for all else. */
  readonly operatorHandler: (request: Request, options?: HandlerOptions) => Promise<Response>
  /** The same methods inside a transaction of the host: their writes commit or roll back with it. */
  readonly within: (transaction: unknown) => WaybillWithin
  /**
   * Starts to deliver, to close charge windows and to remove old data, until `stop`. Processes that only publish or
   * answer requests do not need it.
   */
  readonly start: () => Promise<void>
  /**
   * Closes charge windows, delivers everything due now, and returns the number of attempts; for cron and serverless,
   * instead of `start`.
   */
  readonly runOnce: () => Promise<number>
  /**
   * Signals workers that a tenant may have something due. Call it after you commit a transaction of `within`; otherwise
   * they find it at the next poll.
   */
  readonly wake: (tenantId: string) => Promise<void>
  /** Refuses new calls, waits for running calls and attempts, and releases everything. Can be repeated. */
  readonly stop: () => Promise<void>
}
