/** Freight charges as promises. */
import type { FreightChargeKey, IntakeOptions, ItemResult } from "@waybill/core"
import type * as charges from "@waybill/core/freight-charges"
import type { HostPrincipal } from "../access/AuthenticatorHost.ts"

export type {
  BillChangeReport,
  BillRemovalReport,
  ChargeSubscription,
  ChargeSubscriptionCreate,
  PreliminaryFreightCharge,
  WebhookTestResult
} from "@waybill/core/freight-charges"

export interface ChargeMethods {
  /**
   * Stores versions of freight bills and queues their notifications to debtors, in one transaction. One invalid item
   * refuses the whole call unless `partial`. The same content again is a `duplicate` and changes nothing.
   */
  readonly publish: (
    principal: HostPrincipal,
    charges: ReadonlyArray<charges.BillChangeReport | charges.BillRemovalReport>,
    options?: IntakeOptions
  ) => Promise<ReadonlyArray<ItemResult<FreightChargeKey>>>
}

export interface ChargeSubscriptionMethods {
  /** Stores the open bills of the accounts for `inFlight`, and sends every later change. Rejects with `subscription_conflict` if a subscription of the caller covers one of the accounts. */
  readonly create: (principal: HostPrincipal, subscription: charges.ChargeSubscriptionCreate) => Promise<charges.ChargeSubscription>
  /** A cancelled subscription is inactive. */
  readonly get: (principal: HostPrincipal, subscriptionId: string) => Promise<charges.ChargeSubscription>
  /** Ends the subscription; nothing more is sent. Can be repeated. */
  readonly cancel: (principal: HostPrincipal, subscriptionId: string) => Promise<void>
  /** Bills that were in flight when the subscription was created. */
  readonly inFlight: (principal: HostPrincipal, subscriptionId: string) => Promise<ReadonlyArray<charges.PreliminaryFreightCharge>>
}

export type WebhookTestRequest = typeof charges.WebhookTest.Encoded

export interface WebhookTestMethods {
  /** Sends a sample. If it is accepted, the principal's suspended subscriptions with this address resume; otherwise rejects with `webhook_test_failed`. */
  readonly testWebhook: (
    principal: HostPrincipal,
    test: WebhookTestRequest
  ) => Promise<charges.WebhookTestResult>
}
