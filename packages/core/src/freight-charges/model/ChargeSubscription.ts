/** A debtor's subscription to freight charges (area E, Subscription). */
import { Schema } from "effect"
import { AccountNumber, HmacSecretId } from "../../shared/Identifier.ts"
import { InstantText } from "../../shared/Instant.ts"
import { webhookAddress } from "../../shared/WebhookAddress.ts"

/** Most accounts per subscription. */
export const maxChargeAccounts = 1000

const WebhookUrl = webhookAddress("webhookUrl")

const ShipmentDataType = Schema.Literals(["revenue_impacts_only", "all_monitored_events"]).annotate({
  default: "revenue_impacts_only",
  message: "shipmentDataType is revenue_impacts_only or all_monitored_events."
})

const EventType = Schema.Literals(["revenue_impacts_only", "all_impacts", "no_events"]).annotate({
  default: "revenue_impacts_only",
  message: "eventType is revenue_impacts_only, all_impacts or no_events."
})

/** Which versions are sent, and which events they contain. */
export const DataOptions = Schema.Struct({
  shipmentDataType: Schema.optionalKey(ShipmentDataType),
  eventType: Schema.optionalKey(EventType)
}).annotate({ identifier: "DataOptions" })

/** How often notifications are sent (area E). */
export const ChargeFrequency = Schema.Literals(["real_time", "hourly", "daily"]).annotate({
  default: "real_time",
  identifier: "ChargeFrequency",
  message: "frequency is one of real_time, hourly, daily."
})
export type ChargeFrequency = typeof ChargeFrequency.Type

const BillScope = Schema.Literals(["subscribed_accounts", "all_accounts"]).annotate({
  default: "subscribed_accounts",
  message: "billScope is subscribed_accounts or all_accounts."
})

/** `inactive`: cancelled; `suspended`: its receiver fails. SPEC-GAP-E19 */
export const ChargeSubscriptionStatus = Schema.Literals(["active", "inactive", "suspended"]).annotate({
  identifier: "ChargeSubscriptionStatus"
})
export type ChargeSubscriptionStatus = typeof ChargeSubscriptionStatus.Type

const accounts = Schema.Array(AccountNumber).check(
  Schema.isMinLength(1, { message: "Name at least one account." }),
  Schema.isMaxLength(maxChargeAccounts, { message: `At most ${maxChargeAccounts} accounts.` })
)

/** Body of the create call. `hmacSecretId` is an addition to the published body. SPEC-GAP-E15, SPEC-GAP-E22 */
export const ChargeSubscriptionCreate = Schema.Struct({
  webhookUrl: WebhookUrl,
  accounts,
  dataOptions: DataOptions,
  frequency: Schema.optionalKey(ChargeFrequency),
  includeEventLog: Schema.optionalKey(Schema.Boolean.annotate({ default: true })),
  billScope: Schema.optionalKey(BillScope),
  hmacSecretId: Schema.optionalKey(HmacSecretId)
}).annotate({ identifier: "ChargeSubscriptionCreate" })
export type ChargeSubscriptionCreate = typeof ChargeSubscriptionCreate.Type

const settings = {
  webhookUrl: WebhookUrl,
  accounts,
  dataOptions: Schema.Struct({ shipmentDataType: ShipmentDataType, eventType: EventType }),
  frequency: ChargeFrequency,
  includeEventLog: Schema.Boolean,
  billScope: BillScope,
  hmacSecretId: Schema.optionalKey(HmacSecretId)
}

/** The stored settings, with all defaults filled in. */
export const ChargeSubscriptionSettings = Schema.Struct(settings)
export type ChargeSubscriptionSettings = typeof ChargeSubscriptionSettings.Type

/** A subscription as Waybill returns it. */
export const ChargeSubscription = Schema.Struct({
  subscriptionId: Schema.String,
  ...settings,
  status: ChargeSubscriptionStatus,
  createdAt: InstantText,
  updatedAt: InstantText
}).annotate({ identifier: "ChargeSubscription" })
export type ChargeSubscription = typeof ChargeSubscription.Type

/** Body of the webhook test. */
export const WebhookTest = Schema.Struct({
  webhookUrl: WebhookUrl,
  /** The secret that signs the sample. Default: the sample is not signed. */
  hmacSecretId: Schema.optionalKey(HmacSecretId)
}).annotate({ identifier: "WebhookTest" })

/** Fills in the published defaults. Every pair is offered. SPEC-GAP-E2 */
export const dataOptionsOf = ({ eventType, shipmentDataType }: typeof DataOptions.Type): ChargeSubscriptionSettings["dataOptions"] => ({
  shipmentDataType: shipmentDataType ?? "revenue_impacts_only",
  eventType: eventType ?? "revenue_impacts_only"
})

/** Fills in the defaults. */
export const settingsOf = (asked: ChargeSubscriptionCreate): ChargeSubscriptionSettings => ({
  webhookUrl: asked.webhookUrl,
  accounts: [...new Set(asked.accounts)],
  dataOptions: dataOptionsOf(asked.dataOptions),
  frequency: asked.frequency ?? "real_time",
  includeEventLog: asked.includeEventLog ?? true,
  billScope: asked.billScope ?? "subscribed_accounts",
  ...(asked.hmacSecretId === undefined ? {} : { hmacSecretId: asked.hmacSecretId })
})
