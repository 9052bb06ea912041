/** The service as plain promises: what `createWaybill` gives. */
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
  /** `null` where counting would cost more than it tells. */
  readonly totalPages: number | null
  readonly totalCount: number | null
  readonly hasMore: boolean
  /** Give it as `cursor` with the next page's number, and the pages of one list hold still while events arrive. */
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
   * Stores events and queues them for every matching subscription, as one fact. One bad event rejects the whole call
   * unless `partial`. The same content under the same `eventId` again is a `duplicate` and changes nothing.
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
  /** JSON merge patch: what is not named stays, `null` takes a member back to its default. */
  readonly patch: (principal: HostPrincipal, subscriptionId: string, patch: typeof SubscriptionPatch.Type) => Promise<TransitSubscription>
  readonly remove: (principal: HostPrincipal, subscriptionId: string) => Promise<void>
}

/** The methods that can take part in a transaction of the host. */
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
  /** What a router in front of it matches already, such as `/api/freight`. */
  readonly mountPath?: string
  /** The other end of the connection; public lookups are counted by it. */
  readonly remoteAddress?: string | undefined
  /** The framework's own request or context; `authenticate` gets it as its second argument. */
  readonly host?: unknown
}

/** Every method rejects with `WaybillError`. */
export interface Waybill {
  readonly events: PublishMethods & {
    /** What the principal may see, by shipmentId, sequence and eventId. */
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
    /** By tenantId. */
    readonly list: (query?: PageQuery) => Promise<TenantsPage>
    /** Its callers are refused with `tenant_suspended` and nothing is sent, in every process at once. */
    readonly suspend: (tenantId: string) => Promise<Tenant>
    readonly resume: (tenantId: string) => Promise<Tenant>
    /** With everything of it; `confirm` is the id once more. It is refused at once, its data goes in the background of a process that was started. */
    readonly delete: (tenantId: string, options: { readonly confirm: string }) => Promise<void>
  }
  readonly audit: AuditMethods
  readonly limits: LimitMethods
  readonly apiKeys: {
    /** The key is shown this once. */
    readonly create: (tenantId: string, request: ApiKeyRequest) => Promise<{ readonly id: string; readonly key: string }>
    /** Never a key itself. */
    readonly list: (tenantId: string, query?: PageQuery) => Promise<ApiKeysPage>
    readonly revoke: (tenantId: string, id: string) => Promise<void>
  }
  readonly clients: ClientMethods
  readonly secrets: SecretMethods
  readonly deliveries: {
    /** Newest first, unless the query says otherwise. */
    readonly list: (tenantId: string, query?: DeliveriesQuery) => Promise<DeliveriesPage>
    readonly get: (tenantId: string, deliveryId: string) => Promise<DeliveryBodyView>
    /** The same bytes under the same id once more. */
    readonly retry: (tenantId: string, deliveryId: string) => Promise<void>
    /** A dead letter no longer counts and is not recovered. It can still be retried. */
    readonly dismiss: (tenantId: string, deliveryId: string) => Promise<void>
    /** Every dead letter of the subscription since then, under the same ids. Answers how many. */
    readonly recover: (tenantId: string, subscriptionId: string, since: string | Date) => Promise<number>
    /** History as new deliveries of the same events. Answers how many events. */
    readonly replay: (tenantId: string, subscriptionId: string, range: {
      readonly from: string | Date
      readonly to?: string | Date
      readonly shipmentIds?: ReadonlyArray<string>
    }) => Promise<number>
  }
  readonly allSubscriptions: AllSubscriptionsMethods
  readonly journeys: JourneyMethods
  /** Answers HTTP requests: every area, `/operator`, probes and documents. Never rejects. */
  readonly handler: (request: Request, options?: HandlerOptions) => Promise<Response>
  /** The part of `handler` for customers and carriers: the areas, intake, probes, and their OpenAPI document. All else is 404. */
  readonly customerHandler: (request: Request, options?: HandlerOptions) => Promise<Response>
  /** The part of `handler` for operators: `/operator`, `/metrics`, `/docs`, probes, and the whole OpenAPI document. All else is 404. */
  readonly operatorHandler: (request: Request, options?: HandlerOptions) => Promise<Response>
  /** The same methods inside a transaction that the host holds: what they write is there when it commits, or never was. */
  readonly within: (transaction: unknown) => WaybillWithin
  /** Begins to deliver, to close windows of charges and to remove what is old, until `stop`. Processes that only publish or answer need not call it. */
  readonly start: () => Promise<void>
  /** Closes windows and delivers whatever is due now, and answers how many attempts that took: for cron and serverless, in place of `start`. */
  readonly runOnce: () => Promise<number>
  /** Tells workers that a tenant may have something due. Call it after committing a transaction that `within` took part in; else they find it when they poll. */
  readonly wake: (tenantId: string) => Promise<void>
  /** Takes no more calls, lets running ones and attempts under way finish, and releases everything. Calling it again is fine. */
  readonly stop: () => Promise<void>
}
