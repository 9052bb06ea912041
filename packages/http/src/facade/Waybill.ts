/** The service as promises: the result of `createWaybill`. */
import type * as charges from "./ChargeMethods.ts"
import type * as events from "./EventMethods.ts"
import type * as invoices from "./InvoiceMethods.ts"
import type * as operator from "./OperatorMethods.ts"
import type { PortalCustomer } from "../portal/PortalCaller.ts"
import type { PortalMethods } from "./PortalMethods.ts"
import type * as pickups from "./PickupMethods.ts"
import type * as shipments from "./ShipmentMethods.ts"

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
  Page,
  PickupView,
  PortalDelivery,
  PortalTestResult,
  PortalTheme,
  PurgeResult,
  RetentionWindows,
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
  DeliveryOptionValues,
  DeliveryPolicy,
  DeliveryView,
  DestinationState as SubscriptionState,
  SecretView,
  SubscriptionStatus
} from "@waybill/core/delivery"
export type * from "./ChargeMethods.ts"
export type * from "./EventMethods.ts"
export type * from "./InvoiceMethods.ts"
export type * from "./OperatorMethods.ts"
export type * from "./PickupMethods.ts"
export type { PortalCustomer } from "../portal/PortalCaller.ts"
export type { NoticeContactSettings, PortalLinkRequest, PortalLinkToken, PortalMethods, PortalSubscriptionsQuery, SecretRotationOptions } from "./PortalMethods.ts"
export type * from "./ShipmentMethods.ts"

/** Methods that can join a transaction of the host. */
export interface WaybillWithin {
  readonly shipments: shipments.ReportMethods
  readonly statusSubscriptions: shipments.StatusSubscriptionMethods
  readonly invoices: invoices.InvoiceWriteMethods
  readonly documents: invoices.DocumentWriteMethods
  readonly pickups: pickups.PickupMethods
  readonly pickupSubscriptions: pickups.PickupSubscriptionMethods
  readonly events: events.PublishMethods
  readonly subscriptions: events.SubscriptionMethods
  readonly freightCharges: charges.ChargeMethods
  readonly chargeSubscriptions: charges.ChargeSubscriptionMethods
  /** Keys and secrets of a customer that the host creates, or removes, in its own transaction. */
  readonly apiKeys: Pick<operator.ApiKeyMethods, "create" | "revoke">
  readonly secrets: Pick<operator.SecretMethods, "put" | "delete">
}

/** The methods of the areas. */
export interface WaybillAreas extends Omit<WaybillWithin, "apiKeys" | "secrets"> {
  readonly shipments: shipments.ReportMethods & shipments.LookupMethods
  readonly invoices: invoices.InvoiceWriteMethods & invoices.InvoiceReadMethods
  readonly documents: invoices.DocumentWriteMethods & invoices.DocumentReadMethods
  readonly pickups: pickups.PickupMethods & pickups.PickupReadMethods
  readonly events: events.PublishMethods & events.EventReadMethods
  readonly chargeSubscriptions: charges.ChargeSubscriptionMethods & charges.WebhookTestMethods
}

/** How a request reached the host. */
export interface HandlerOptions {
  /** The path at which callers reach the service, such as `/api/freight`. The path of the request begins with it, or with what is below it if a router removed it. */
  readonly mountPath?: string
  /** The remote address of the connection; public lookups are counted by it. */
  readonly remoteAddress?: string | undefined
  /** Path and query as they arrived, where the URL of the `Request` differs: it has no dot segments, which the host's router took for names. */
  readonly target?: string | undefined
  /** The framework's own request or context; the second argument of `authenticate`. */
  readonly host?: unknown
}

/** For hosts whose calls may take only so long. */
export interface RunOnceOptions {
  /**
   * After so many milliseconds no attempt begins any more, and neither does an e-mail. Attempts in flight end within `delivery.drainMillis` (10 seconds), and what
   * is left waits for the next call. E-mails that it was sending are tried again after ten minutes. Without it, everything due is delivered, however long it takes.
   */
  readonly forMillis?: number
}

/**
 * Every method rejects with `WaybillError`. `Tx` is what `within` accepts, such as `PostgresTransaction` of
 * `@waybill/postgres`; a plain `Waybill` is any service, without `within`.
 */
export interface Waybill<in Tx = never> extends WaybillAreas {
  readonly tenants: operator.TenantMethods
  readonly audit: operator.AuditMethods
  readonly limits: operator.LimitMethods
  readonly apiKeys: operator.ApiKeyMethods
  readonly clients: operator.ClientMethods
  readonly secrets: operator.SecretMethods
  readonly deliveries: operator.DeliveryMethods
  readonly allPickups: operator.AllPickupsMethods
  readonly allSubscriptions: operator.AllSubscriptionsMethods
  readonly statistics: operator.StatisticsMethods
  readonly journeys: operator.JourneyMethods
  readonly portal: PortalMethods
  /** Answers HTTP requests: every area, `/operator`, probes, documentation, and `/metrics` for operators. Rejects only what is no `Request`, such as Node's. */
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
  /** The same methods inside a transaction of the host: their writes, and their entries of the audit log, commit or roll back with it. */
  readonly within: (transaction: Tx) => WaybillWithin
  /**
   * Starts to deliver, to close charge windows, to send notices and e-mail, and to remove old data, until `stop`. Processes that only publish or
   * answer requests do not need it.
   */
  readonly start: () => Promise<void>
  /**
   * Closes charge windows, delivers everything due now, sends e-mails that wait, and returns the number of attempts; for cron and serverless,
   * instead of `start`. Call it every minute. When one of these fails, it does the others first, and then rejects.
   */
  readonly runOnce: (options?: RunOnceOptions) => Promise<number>
  /**
   * Does the rest of what `start` does: drops entries beyond the quotas, ends expired access, puts notices in the outbox that `runOnce`
   * sends, and removes old data and deleted tenants. Call it every hour if no process calls `start`. It works in small steps: a call that is cut short loses nothing,
   * and the next one continues.
   */
  readonly maintain: () => Promise<void>
  /**
   * Signals workers that a tenant may have something due. Call it after you commit a transaction of `within`; otherwise
   * they find it at the next poll. Rejects with `invalid_input` if it names no tenant.
   */
  readonly wake: (tenantId: string) => Promise<void>
  /**
   * Refuses new calls, waits up to 10 seconds for running calls and up to `delivery.drainMillis` for attempts in flight, and releases everything.
   * Resolves 8 seconds after the longer of both at the latest, also when the database does not answer, not even the first call. Can be repeated.
   */
  readonly stop: () => Promise<void>
}
