/** A debtor's wish to be told of freight charges (area E, Subscription). */
import type { OpenList } from "../shared/OpenList.ts"

/** Which versions of a bill are told. */
export type ShipmentDataType = "revenue_impacts_only" | "all_monitored_events"

/** Which events their logs show. */
export type ChargeEventType = "revenue_impacts_only" | "all_impacts" | "no_events"

/** `real_time`: at once. Otherwise a bill's last version, once an hour or a day. */
export type ChargeFrequency = "real_time" | "hourly" | "daily"

/** `all_accounts`: every account you have now, whatever `accounts` names. */
export type BillScope = "subscribed_accounts" | "all_accounts"

/** `suspended`: nothing is sent because deliveries failed or were not wanted; `testWebhook` of its address lets it go on. */
export type ChargeSubscriptionStatus = "active" | "inactive" | "suspended"

export interface ChargeSubscriptionCreate {
  /** Where notifications are POSTed to; https. */
  readonly webhookUrl: string
  /** Your own accounts; at least one. */
  readonly accounts: ReadonlyArray<string>
  /** Some pairs only are offered; a member that is left out goes with the other. */
  readonly dataOptions: { readonly shipmentDataType?: ShipmentDataType; readonly eventType?: ChargeEventType }
  /** Default `real_time`. */
  readonly frequency?: ChargeFrequency
  /** Whether notifications have change logs. Default true. */
  readonly includeEventLog?: boolean
  /** Default `subscribed_accounts`. */
  readonly billScope?: BillScope
  /** Names the secret that notifications are signed with. Left out, they are signed once a secret is registered for you. */
  readonly hmacSecretId?: string
}

/** With every default filled in. */
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

export interface WebhookTest {
  readonly webhookUrl: string
  readonly hmacSecretId?: string
}

/** The receiver accepted the sample. */
export interface WebhookTested {
  readonly message: string
  /** How many suspended subscriptions go on because of it. */
  readonly resumed?: number
}
