/** Client for preliminary freight charges (area E). */
import { type CallOptions, Connection, type ConnectionOptions } from "../connection/Connection.ts"
import { WaybillCallFailed } from "../connection/WaybillProblem.ts"
import type { ChargeSubscription, ChargeSubscriptionCreate, WebhookTest, WebhookTested } from "./ChargeSubscription.ts"
import type { PreliminaryFreightCharge } from "./FreightCharge.ts"

const subscriptions = ["v1", "subscriptions"]

/** Subscriptions to freight charges, bills in flight, and webhook tests (area E). Calls reject with `WaybillProblem` when the server refuses, and with `WaybillCallFailed` when there is no usable answer. */
export class FreightChargesClient {
  readonly #connection: Connection

  /** `basePath` is `/pfc` by default. */
  constructor(options: ConnectionOptions) {
    this.#connection = new Connection(options, "/pfc")
  }

  /**
   * Never retried. If the response was lost and the first call succeeded, the next call fails with 409; `details` of
   * the error name the account and the `subscriptionId`.
   */
  create(subscription: ChargeSubscriptionCreate, options?: CallOptions): Promise<ChargeSubscription> {
    return this.#connection.ask({ method: "POST", path: subscriptions, body: subscription, repeatable: false }, options)
  }

  get(subscriptionId: string, options?: CallOptions): Promise<ChargeSubscription> {
    return this.#connection.ask({ method: "GET", path: [...subscriptions, subscriptionId], repeatable: true }, options)
  }

  /** Ends the subscription; nothing more is sent. Can be repeated. */
  async cancel(subscriptionId: string, options?: CallOptions): Promise<void> {
    await this.#connection.send({ method: "DELETE", path: [...subscriptions, subscriptionId], repeatable: true }, options)
  }

  /** Bills of the subscribed accounts that were open when the subscription was created. */
  async inFlight(subscriptionId: string, options?: CallOptions): Promise<ReadonlyArray<PreliminaryFreightCharge>> {
    const path = [...subscriptions, subscriptionId, "inflight"]
    const answer = await this.#connection.send({ method: "GET", path, repeatable: true }, options)
    if (Array.isArray(answer.json)) return answer.json as ReadonlyArray<PreliminaryFreightCharge>
    throw new WaybillCallFailed(answer.call, "unreadable_answer", "the answer is not a list of freight charges.")
  }

  /**
   * Sends a sample delivery to a receiver; its `pfc.isTest` is true. Fails with a `WaybillProblem` when the receiver
   * does not accept it. On success, your suspended subscriptions with this address resume. Never retried.
   */
  testWebhook(test: WebhookTest, options?: CallOptions): Promise<WebhookTested> {
    return this.#connection.ask({ method: "POST", path: ["webhooks", "test"], body: test, repeatable: false }, options)
  }
}
