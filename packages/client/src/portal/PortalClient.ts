/** Client of a customer's portal: its own subscriptions, deliveries and secrets. */
import { type CallOptions, Connection, type ConnectionOptions } from "../connection/Connection.ts"
import { allPages, type ListedPage, cursorPage, type PageQuery } from "../connection/CursorPages.ts"
import type { Delivery, DeliveryQuery } from "../operator/Delivery.ts"
import type { Secret, SigningSecret } from "../operator/Secret.ts"
import type { OperatorSubscription, SubscriptionState } from "../operator/OperatorSubscription.ts"
import type { PortalSession } from "./PortalSession.ts"

/** A subscription of the caller, with the fields that operators see. */
export interface PortalSubscription extends OperatorSubscription {}

/** Filters of the list of the customer's own subscriptions. */
export interface PortalSubscriptionQuery extends PageQuery {
  /** Only these, at most 100. Unknown ids are left out. */
  readonly subscriptionId?: ReadonlyArray<string> | undefined
  readonly state?: SubscriptionState | undefined
}

/** Filters of the list of the customer's own deliveries. */
export interface PortalDeliveryQuery extends PageQuery, Pick<DeliveryQuery, "order" | "since" | "state" | "subscriptionId"> {}

/** A delivery of the customer with its endpoint and body. */
export interface PortalDelivery extends Delivery {
  /** The subscription's endpoint now. Attempts before it was changed were sent to the previous one. */
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

/** Contacts of the customer for notices about failing endpoints. */
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

/** The token of a portal link is given as `bearer`. The customer's other credentials work as well. */
export class PortalClient {
  readonly #connection: Connection

  /** `basePath` is `/portal/v1` by default. `bearer` is the token of a link; a customer's other credentials work as well. */
  constructor(options: ConnectionOptions) {
    this.#connection = new Connection(options, "/portal/v1")
  }

  /** The caller, the end of its link, and the theme of the page. */
  session(options?: CallOptions): Promise<PortalSession> {
    return this.#connection.ask({ method: "GET", path: ["session"], repeatable: true }, options)
  }

  /** Subscriptions of every area, ordered by subscriptionId. */
  listSubscriptions(query: PortalSubscriptionQuery = {}, options?: CallOptions): Promise<ListedPage<PortalSubscription>> {
    return cursorPage(this.#connection, ["subscriptions"], query, options)
  }

  /** Iterates over every matching subscription, page by page. */
  allSubscriptions(query: Omit<PortalSubscriptionQuery, "cursor"> = {}, options?: CallOptions): AsyncGenerator<PortalSubscription, void, undefined> {
    return allPages((cursor) => this.listSubscriptions({ ...query, cursor }, options))
  }

  getSubscription(subscriptionId: string, options?: CallOptions): Promise<PortalSubscription> {
    return this.#connection.ask({ method: "GET", path: ["subscriptions", subscriptionId], repeatable: true }, options)
  }

  /** Stops sending until it is resumed; new entries wait. Has no effect on a subscription that is not active. */
  pause(subscriptionId: string, options?: CallOptions): Promise<PortalSubscription> {
    return this.#connection.ask({ method: "POST", path: ["subscriptions", subscriptionId, "pause"], repeatable: true }, options)
  }

  /** Sends what waits. Rejects with `subscription_paused_by_operator` if an operator paused it. */
  resume(subscriptionId: string, options?: CallOptions): Promise<PortalSubscription> {
    return this.#connection.ask({ method: "POST", path: ["subscriptions", subscriptionId, "resume"], repeatable: true }, options)
  }

  /** Sends a signed test event to the endpoint. Ten per minute. */
  sendTest(subscriptionId: string, options?: CallOptions): Promise<PortalTest> {
    return this.#connection.ask({ method: "POST", path: ["subscriptions", subscriptionId, "test"], repeatable: false }, options)
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
  getDelivery(deliveryId: string, options?: CallOptions): Promise<PortalDelivery> {
    return this.#connection.ask({ method: "GET", path: ["deliveries", deliveryId], repeatable: true }, options)
  }

  /** Sends one delivery again, with the same id. */
  async retryDelivery(deliveryId: string, options?: CallOptions): Promise<void> {
    await this.#connection.send({ method: "POST", path: ["deliveries", deliveryId, "retry"], repeatable: false }, options)
  }

  /** Where notices of failing endpoints are sent. */
  getContact(options?: CallOptions): Promise<PortalContact> {
    return this.#connection.ask({ method: "GET", path: ["contact"], repeatable: true }, options)
  }

  putContact(contact: PortalContactChange, options?: CallOptions): Promise<PortalContact> {
    return this.#connection.ask({ method: "PUT", path: ["contact"], body: contact, repeatable: true }, options)
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
  rotateSecret(hmacSecretId: string, rotation: SecretRotation = {}, options?: CallOptions): Promise<SigningSecret> {
    return this.#connection.ask({ method: "POST", path: ["secrets", hmacSecretId, "rotate"], body: rotation, repeatable: false }, options)
  }
}
