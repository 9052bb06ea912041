/** A debtor's subscription to freight charges (area E, Subscription). */
import type { OpenList } from "../shared/OpenList.ts"

/** Which versions of a bill are sent. */
export type ShipmentDataType = "revenue_impacts_only" | "all_monitored_events"

/** Which events the change logs contain. */
type ChargeEventType = "revenue_impacts_only" | "all_impacts" | "no_events"

/** `real_time`: at once. `hourly` and `daily`: the latest version of each bill, once per hour or day. */
export type ChargeFrequency = "real_time" | "hourly" | "daily"

/** `all_accounts`: every account of yours at this time, regardless of `accounts`. */
export type BillScope = "subscribed_accounts" | "all_accounts"

/** `suspended`: deliveries failed or the receiver refused them. A successful `testWebhook` of its address resumes it. */
export type ChargeSubscriptionStatus = "active" | "inactive" | "suspended"

/** A new subscription to freight charges: `POST /v1/subscriptions` of area E. */
export interface ChargeSubscriptionCreate {
  /** Target of notifications; https. */
  readonly webhookUrl: string
  /** Your own accounts; at least one. */
  readonly accounts: ReadonlyArray<string>
  /** Every pair is offered. An absent member is `revenue_impacts_only`. */
  readonly dataOptions: { readonly shipmentDataType?: ShipmentDataType; readonly eventType?: ChargeEventType }
  /** Default `real_time`. */
  readonly frequency?: ChargeFrequency
  /** Whether notifications contain change logs. Default true. */
  readonly includeEventLog?: boolean
  /** Default `subscribed_accounts`. */
  readonly billScope?: BillScope
  /** The secret that signs notifications. Without it, they are signed once a secret is registered for you. */
  readonly hmacSecretId?: string
}

/** The stored subscription, with all defaults filled in. */
export interface ChargeSubscription {
  readonly subscriptionId: string
  readonly webhookUrl: string
  readonly accounts: ReadonlyArray<string>
  readonly dataOptions: { readonly shipmentDataType: OpenList<ShipmentDataType>; readonly eventType: OpenList<ChargeEventType> }
  readonly frequency: OpenList<ChargeFrequency>
  readonly includeEventLog: boolean
  readonly billScope: OpenList<BillScope>
  readonly hmacSecretId?: string
  readonly status: OpenList<ChargeSubscriptionStatus>
  readonly createdAt: string
  readonly updatedAt: string
}

/** The receiver to test: `POST /webhooks/test` of area E. */
export interface WebhookTest {
  readonly webhookUrl: string
  readonly hmacSecretId?: string
}

/** The receiver accepted the sample delivery. */
export interface WebhookTested {
  readonly message: string
  /** Number of suspended subscriptions that the test resumed. */
  readonly resumed?: number
}
