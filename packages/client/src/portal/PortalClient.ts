/** Client of a customer's portal: its own subscriptions, deliveries and secrets. */
import { type Call, type CallOptions, Connection, type ConnectionOptions } from "../connection/Connection.ts"
import { allPages, type ListedPage, cursorPage, type PageQuery } from "../connection/CursorPages.ts"
import type { Delivery, DeliveryQuery } from "../operator/Delivery.ts"
import type { Secret, SigningSecret } from "../operator/Secret.ts"
import type { OperatorSubscription, SubscriptionState } from "../operator/OperatorSubscription.ts"
import type { PortalSession } from "./PortalSession.ts"

/** A subscription of the caller, with the fields that operators see. */
export interface PortalSubscription extends OperatorSubscription {}

/** Filters of the list of the customer's own subscriptions. */
export interface PortalSubscriptionQuery extends PageQuery {
  readonly state?: SubscriptionState | undefined
}

/** Filters of the list of the customer's own deliveries. */
export interface PortalDeliveryQuery extends Omit<DeliveryQuery, "client"> {}

/** A delivery of the customer with its endpoint and body. */
export interface PortalDelivery extends Delivery {
  readonly endpointUrl: string
  /** The exact body of every attempt; `null` before the first one. */
  readonly body: string | null
}

/** The result of a test event. */
export interface PortalTest {
  readonly accepted: boolean
  /** The endpoint's HTTP status, if it answered. */
  readonly status: number | null
  readonly detail: string
}

/**
 * `ending`: before the last attempt. `failing`: attempts have failed for hours. `dead_letter`: a delivery has used up its attempts. `paused`: the
 * service has paused the subscription.
 */
export type NoticeKind = "ending" | "failing" | "dead_letter" | "paused"

/** Where the customer is told of failing endpoints. */
export interface PortalContact {
  /** `null`: nowhere. */
  readonly email: string | null
  /** The kinds of notices that are sent there; `null`: all. */
  readonly emailKinds: ReadonlyArray<NoticeKind> | null
  /** Whether the service sends e-mail at all. */
  readonly sendsMail: boolean
  readonly webhook: (NoticeWebhook & {
    /** Of the webhook's deliveries, like that of any subscription. */
    readonly subscriptionId: string
  }) | null
  readonly webhookKinds: ReadonlyArray<NoticeKind> | null
}

/** A webhook that notices are sent to, signed with this secret. */
export interface NoticeWebhook {
  readonly endpointUrl: string
  readonly hmacSecretId: string
}

/** What is left out, other than `email`, stays as it is. */
export interface PortalContactChange {
  /** `null` ends notices by e-mail. */
  readonly email: string | null
  /** `null`: all kinds. */
  readonly emailKinds?: ReadonlyArray<NoticeKind> | null
  /** `null` ends notices by webhook. */
  readonly webhook?: NoticeWebhook | null
  /** `null`: all kinds. */
  readonly webhookKinds?: ReadonlyArray<NoticeKind> | null
}

/** How a signing secret is replaced. */
export interface SecretRotation {
  /** How long the previous secret still signs: 0 to 604,800. The server's default is a day. */
  readonly overlapSeconds?: number
}

/** Connection to the portal. `bearer` is the token of a link; a customer's other credentials work as well. */
export interface PortalClientOptions extends ConnectionOptions {
  /** Path of the portal's calls below `baseUrl`. Default `/portal/v1`. */
  readonly basePath?: string | undefined
}

/** The token of a portal link is given as `bearer`. The customer's other credentials work as well. */
export class PortalClient {
  readonly #connection: Connection

  constructor(options: PortalClientOptions) {
    this.#connection = new Connection(options, options.basePath ?? "/portal/v1")
  }

  /** The caller, the end of its link, and the theme of the page. */
  async session(options?: CallOptions): Promise<PortalSession> {
    return await this.#send("GET", ["session"], undefined, true, options) as PortalSession
  }

  /** Subscriptions of every area, ordered by subscriptionId. */
  listSubscriptions(query: PortalSubscriptionQuery = {}, options?: CallOptions): Promise<ListedPage<PortalSubscription>> {
    return cursorPage(this.#connection, ["subscriptions"], query, options)
  }

  /** Iterates over every matching subscription, page by page. */
  allSubscriptions(query: Omit<PortalSubscriptionQuery, "cursor"> = {}, options?: CallOptions): AsyncGenerator<PortalSubscription, void, undefined> {
    return allPages((cursor) => this.listSubscriptions({ ...query, cursor }, options))
  }

  async getSubscription(subscriptionId: string, options?: CallOptions): Promise<PortalSubscription> {
    return await this.#send("GET", ["subscriptions", subscriptionId], undefined, true, options) as PortalSubscription
  }

  /** Stops sending until it is resumed; new entries wait. Has no effect on a subscription that is not active. */
  async pause(subscriptionId: string, options?: CallOptions): Promise<PortalSubscription> {
    return await this.#send("POST", ["subscriptions", subscriptionId, "pause"], undefined, true, options) as PortalSubscription
  }

  /** Sends what waits. Rejects with `subscription_paused_by_operator` if an operator paused it. */
  async resume(subscriptionId: string, options?: CallOptions): Promise<PortalSubscription> {
    return await this.#send("POST", ["subscriptions", subscriptionId, "resume"], undefined, true, options) as PortalSubscription
  }

  /** Sends a signed test event to the endpoint. Ten per minute. */
  async sendTest(subscriptionId: string, options?: CallOptions): Promise<PortalTest> {
    return await this.#send("POST", ["subscriptions", subscriptionId, "test"], undefined, false, options) as PortalTest
  }

  /** Newest first by default. Excludes deliveries of deleted subscriptions. A page may be short, or empty, with a `nextCursor`. */
  listDeliveries(query: PortalDeliveryQuery = {}, options?: CallOptions): Promise<ListedPage<Delivery>> {
    return cursorPage(this.#connection, ["deliveries"], query, options)
  }

  /** Iterates over every matching delivery, page by page. */
  allDeliveries(query: Omit<PortalDeliveryQuery, "cursor"> = {}, options?: CallOptions): AsyncGenerator<Delivery, void, undefined> {
    return allPages((cursor) => this.listDeliveries({ ...query, cursor }, options))
  }

  /** The delivery with every attempt, and its exact body once there was an attempt. */
  async getDelivery(deliveryId: string, options?: CallOptions): Promise<PortalDelivery> {
    return await this.#send("GET", ["deliveries", deliveryId], undefined, true, options) as PortalDelivery
  }

  /** Sends one delivery again, with the same id. */
  async retryDelivery(deliveryId: string, options?: CallOptions): Promise<void> {
    await this.#send("POST", ["deliveries", deliveryId, "retry"], undefined, false, options)
  }

  /** Where notices of failing endpoints are sent. */
  async getContact(options?: CallOptions): Promise<PortalContact> {
    return await this.#send("GET", ["contact"], undefined, true, options) as PortalContact
  }

  async putContact(contact: PortalContactChange, options?: CallOptions): Promise<PortalContact> {
    return await this.#send("PUT", ["contact"], contact, true, options) as PortalContact
  }

  /** Secrets that belong to the caller alone. Never returns a secret's value. */
  listSecrets(query: PageQuery = {}, options?: CallOptions): Promise<ListedPage<Secret>> {
    return cursorPage(this.#connection, ["secrets"], query, options)
  }

  /** Iterates over every secret, page by page. */
  allSecrets(query: Omit<PageQuery, "cursor"> = {}, options?: CallOptions): AsyncGenerator<Secret, void, undefined> {
    return allPages((cursor) => this.listSecrets({ ...query, cursor }, options))
  }

  /** Generates a new secret, which is returned only once. The previous one still signs for `overlapSeconds`. */
  async rotateSecret(hmacSecretId: string, rotation: SecretRotation = {}, options?: CallOptions): Promise<SigningSecret> {
    return await this.#send("POST", ["secrets", hmacSecretId, "rotate"], rotation, false, options) as SigningSecret
  }

  async #send(method: Call["method"], path: ReadonlyArray<string>, body: unknown, repeatable: boolean, options: CallOptions | undefined): Promise<unknown> {
    return (await this.#connection.send({ method, path, repeatable, ...(body === undefined ? {} : { body }) }, options)).json
  }
}
