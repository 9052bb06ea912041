/** The service as promises: the result of `createWaybill`. */
import type { IntakeOptions } from "@waybill/core"
import type { SubscriptionStatus } from "@waybill/core/delivery"
import type {
  Publication,
  ReportedEvent,
  SubscriptionCreate,
  SubscriptionPatch,
  TransitEvent,
  TransitSubscription
} from "@waybill/core/transit-events"
import type { HostPrincipal } from "../access/AuthenticatorHost.ts"
import type { ChargeMethods, ChargeSubscriptionMethods, WebhookTestMethods } from "./ChargeMethods.ts"
import type { DocumentReadMethods, DocumentWriteMethods, InvoiceReadMethods, InvoiceWriteMethods } from "./InvoiceMethods.ts"
import type { PickupMethods, PickupReadMethods, PickupSubscriptionMethods } from "./PickupMethods.ts"
import type {
  AllPickupsMethods,
  AllSubscriptionsMethods,
  ApiKeyMethods,
  AuditMethods,
  ClientMethods,
  DeliveryMethods,
  JourneyMethods,
  LimitMethods,
  SecretMethods,
  StatisticsMethods,
  TenantMethods
} from "./OperatorMethods.ts"
import type { PortalCustomer } from "../portal/PortalCaller.ts"
import type { PortalMethods } from "./PortalMethods.ts"
import type { LookupMethods, ReportMethods, StatusSubscriptionMethods } from "./ShipmentMethods.ts"

// Types of the areas in the signatures of the methods, for hosts that do not depend on `@waybill/core`.
export type {
  ApiKeyRequest,
  ApiKeyView,
  AuditEntry,
  ClientView,
  CountedPage,
  Explanation,
  FoundShipment as JourneyShipment,
  FreightChargeKey,
  HealthView,
  StatisticsPoint,
  StatisticsView,
  IntakeOptions,
  ItemResult,
  Limits,
  LimitsChange,
  ListPage,
  Mail,
  NoticeContactView,
  NoticeKind,
  PickupView,
  PortalDelivery,
  PortalTestResult,
  PortalTheme,
  PurgeResult,
  ShipmentJourney,
  ShipmentKey,
  StatusUpdateKey,
  SubscriptionView,
  Tenant,
  WaybillStorage
} from "@waybill/core"
export type {
  BulkResult,
  DeliveryBodyView,
  DeliveryError,
  DeliveryPolicy,
  DeliveryView,
  DestinationState as SubscriptionState,
  SecretView,
  SubscriptionStatus
} from "@waybill/core/delivery"
export type {
  BillChangeReport,
  BillRemovalReport,
  ChargeSubscription,
  ChargeSubscriptionCreate,
  PreliminaryFreightCharge,
  WebhookTestResult
} from "@waybill/core/freight-charges"
export type {
  DocumentChange,
  DocumentType,
  Invoice,
  InvoiceAnswer,
  InvoiceChange,
  InvoiceComment,
  UploadAnswer
} from "@waybill/core/invoices"
export type {
  CancelledPickup,
  CarrierDecisionInput,
  PickupAnswer,
  PickupChangeEntry,
  PickupChangeQueryInput,
  PickupDecision,
  PickupDeskCall,
  PickupInput,
  PickupOptions,
  PickupOrder,
  PickupQuery,
  PickupRecord,
  PickupReportInput,
  PickupReportResult,
  PickupRequest,
  PickupSubscription,
  PickupSubscriptionInput,
  PickupSubscriptionPatchInput,
  PickupSubscriptionQueryInput,
  PickupVisibility
} from "@waybill/core/pickups"
export type {
  LookupBy,
  PostedShipment,
  PublicShipment,
  ShipmentRecord,
  ShipmentView,
  StatusUpdate,
  SubscribeRequest,
  SubscriptionResult,
  VerifiedShipment
} from "@waybill/core/shipment-status"
export type {
  EventType,
  Publication,
  ReportedEvent,
  SubscriptionCreate,
  SubscriptionPatch,
  TransitEvent,
  TransitSubscription
} from "@waybill/core/transit-events"
export type * from "./ChargeMethods.ts"
export type * from "./InvoiceMethods.ts"
export type * from "./OperatorMethods.ts"
export type { HostPickupDesk, PickupChanges, PickupMethods, PickupReadMethods, PickupSubscriptionMethods, WaitingPickupDesk } from "./PickupMethods.ts"
export type { PortalCustomer } from "../portal/PortalCaller.ts"
export type { NoticeContactSettings, PortalLinkRequest, PortalLinkToken, PortalMethods, PortalSubscriptionsQuery, SecretRotationOptions } from "./PortalMethods.ts"
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
  readonly status?: SubscriptionStatus
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
    options?: IntakeOptions
  ) => Promise<ReadonlyArray<Publication>>
}

export interface EventReadMethods {
  /** Events that the principal has access to, by shipmentId, sequence and eventId. */
  readonly list: (principal: HostPrincipal, query?: EventListQuery) => Promise<EventsPage>
}

export interface SubscriptionMethods {
  readonly create: (principal: HostPrincipal, subscription: SubscriptionCreate) => Promise<TransitSubscription>
  readonly list: (principal: HostPrincipal, query?: SubscriptionListQuery) => Promise<SubscriptionsPage>
  readonly get: (principal: HostPrincipal, subscriptionId: string) => Promise<TransitSubscription>
  /** JSON merge patch: absent members stay, `null` resets a member to its default. */
  readonly patch: (principal: HostPrincipal, subscriptionId: string, patch: SubscriptionPatch) => Promise<TransitSubscription>
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
  readonly pickupSubscriptions: PickupSubscriptionMethods
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

/**
 * Every method rejects with `WaybillError`. `Tx` is what `within` accepts, such as `PostgresTransaction` of
 * `@waybill/postgres`; a plain `Waybill` is any service, without `within`.
 */
export interface Waybill<in Tx = never> {
  readonly events: PublishMethods & EventReadMethods
  readonly subscriptions: SubscriptionMethods
  readonly shipments: ReportMethods & LookupMethods
  readonly statusSubscriptions: StatusSubscriptionMethods
  readonly freightCharges: ChargeMethods
  readonly chargeSubscriptions: ChargeSubscriptionMethods & WebhookTestMethods
  readonly invoices: InvoiceWriteMethods & InvoiceReadMethods
  readonly documents: DocumentWriteMethods & DocumentReadMethods
  readonly pickups: PickupMethods & PickupReadMethods
  readonly pickupSubscriptions: PickupSubscriptionMethods
  readonly tenants: TenantMethods
  readonly audit: AuditMethods
  readonly limits: LimitMethods
  readonly apiKeys: ApiKeyMethods
  readonly clients: ClientMethods
  readonly secrets: SecretMethods
  readonly deliveries: DeliveryMethods
  readonly allPickups: AllPickupsMethods
  readonly allSubscriptions: AllSubscriptionsMethods
  readonly statistics: StatisticsMethods
  readonly journeys: JourneyMethods
  readonly portal: PortalMethods
  /** Answers HTTP requests: every area, `/operator`, probes, documentation, and `/metrics` for operators. Never rejects. */
  readonly handler: (request: Request, options?: HandlerOptions) => Promise<Response>
  /** The part of `handler` for customers and carriers: the areas, intake, probes, and the OpenAPI document of these calls. 404 for all else. */
  readonly customerHandler: (request: Request, options?: HandlerOptions) => Promise<Response>
  /** The part of `handler` for operators: `/operator`, `/docs`, probes, the OpenAPI document of these calls, and `/metrics` without credentials. 404 for all else. */
  readonly operatorHandler: (request: Request, options?: HandlerOptions) => Promise<Response>
  /**
   * The portal alone, for your own session: the calls below `/portal` for a customer that you have authenticated; 404 for all else. Without
   * a customer they need the token of a link or another credential. A token that the request has is used in place of the customer.
   */
  readonly portalHandler: (request: Request, customer: PortalCustomer | undefined, options?: HandlerOptions) => Promise<Response>
  /** The same methods inside a transaction of the host: their writes commit or roll back with it. */
  readonly within: (transaction: Tx) => WaybillWithin
  /**
   * Starts to deliver, to close charge windows and to remove old data, until `stop`. Processes that only publish or
   * answer requests do not need it.
   */
  readonly start: () => Promise<void>
  /**
   * Closes charge windows, delivers everything due now, sends e-mails that wait, and returns the number of attempts; for cron and serverless,
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
