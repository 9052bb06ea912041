/** Freight charges as plain promises. */
import type {
  BillChangeReport,
  BillRemovalReport,
  ChargeSubscription,
  ChargeSubscriptionCreate,
  FreightChargeKey,
  ItemResult,
  PreliminaryFreightCharge,
  WebhookTestResult
} from "@waybill/core"
import type { HostPrincipal } from "../access/AuthenticatorHost.ts"

export interface ChargeMethods {
  /**
   * Stores versions of freight bills and queues them for whoever owes them, as one fact. One bad item rejects the whole call
   * unless `partial`. The same content again is a `duplicate` and changes nothing.
   */
  readonly publish: (
    principal: HostPrincipal,
    charges: ReadonlyArray<BillChangeReport | BillRemovalReport>,
    options?: { readonly partial?: boolean }
  ) => Promise<ReadonlyArray<ItemResult<FreightChargeKey>>>
}

export interface ChargeSubscriptionMethods {
  readonly create: (principal: HostPrincipal, subscription: ChargeSubscriptionCreate) => Promise<ChargeSubscription>
  /** A cancelled one is inactive. */
  readonly get: (principal: HostPrincipal, subscriptionId: string) => Promise<ChargeSubscription>
  /** Nothing is sent any more. Cancelling again is fine. */
  readonly cancel: (principal: HostPrincipal, subscriptionId: string) => Promise<void>
  /** What was in flight when it was made. */
  readonly inFlight: (principal: HostPrincipal, subscriptionId: string) => Promise<ReadonlyArray<PreliminaryFreightCharge>>
}

export interface WebhookTestMethods {
  /** Sends a sample; suspended subscriptions of the principal that deliver there go on when it is accepted. */
  readonly testWebhook: (
    principal: HostPrincipal,
    test: { readonly webhookUrl: string; readonly hmacSecretId?: string }
  ) => Promise<WebhookTestResult>
}
