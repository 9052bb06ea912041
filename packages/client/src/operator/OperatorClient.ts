/** What whoever runs the server does: tenants, keys, secrets, and deliveries that went wrong. */
import { type Call, type CallOptions, Connection, type ConnectionOptions, type Query } from "../connection/Connection.ts"
import { WaybillCallFailed } from "../connection/WaybillProblem.ts"
import type { ChargeSubscription } from "../freight-charges/ChargeSubscription.ts"
import type { Delivery, DeliveryInFull, DeliveryState } from "./Delivery.ts"

export interface TenantSettings {
  readonly name: string
  /** Host names whose public lookups are this tenant's. */
  readonly hosts?: ReadonlyArray<string>
}

export interface ApiKeyCreate {
  /** Keys of one name are one client, so a replaced key keeps its subscriptions. */
  readonly name: string
  readonly roles: ReadonlyArray<"carrier" | "customer">
  /** Whose shipments a customer sees. */
  readonly accounts?: ReadonlyArray<string>
  readonly dot?: string
  readonly mc?: string
}

export interface ApiKey {
  readonly id: string
  /** Shown this once. */
  readonly key: string
}

export interface SecretSettings {
  /** `whsec_…`; generated when left out. */
  readonly secret?: string
  /** Only clients with one of these accounts may name the secret. */
  readonly accounts?: ReadonlyArray<string>
  /** How long the secret before this one signs as well. The server's default is a day. */
  readonly overlapSeconds?: number
  /** Deliveries carry the older `X-Signature` as well, made with the newest secret only. */
  readonly bodySignature?: boolean
}

export interface SigningSecret {
  readonly hmacSecretId: string
  readonly secret: string
}

export interface DeliveryQuery {
  readonly state?: DeliveryState | undefined
  readonly subscriptionId?: string | undefined
  /** Created at this time or later. */
  readonly since?: string | Date | undefined
  /** How many in one page: 1 to 500. */
  readonly limit?: number | undefined
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined
}

/** Oldest first. */
export interface DeliveriesPage {
  readonly data: ReadonlyArray<Delivery>
  /** Absent or `null` on the last page. */
  readonly nextCursor?: string | null
}

export interface ReplayRange {
  readonly from: string | Date
  /** Default: now. */
  readonly to?: string | Date
  /** Default: every shipment of the subscription. */
  readonly shipmentIds?: ReadonlyArray<string>
}

export interface OperatorClientOptions extends ConnectionOptions {
  /** Where the operator's calls live below `baseUrl`. Default `/operator/v1`. */
  readonly basePath?: string | undefined
}

/**
 * Calls that would do more when they come twice (another key, another generated secret, another attempt or replay) are
 * never repeated by the client.
 */
export class OperatorClient {
  readonly #connection: Connection

  constructor(options: OperatorClientOptions) {
    this.#connection = new Connection(options, options.basePath ?? "/operator/v1")
  }

  /** Creates a tenant or changes it. */
  async putTenant(tenantId: string, settings: TenantSettings, options?: CallOptions): Promise<void> {
    await this.#send("PUT", [tenantId], settings, true, options)
  }

  async createApiKey(tenantId: string, key: ApiKeyCreate, options?: CallOptions): Promise<ApiKey> {
    return await this.#send("POST", [tenantId, "api-keys"], key, false, options) as ApiKey
  }

  /** Works at once on every node. */
  async revokeApiKey(tenantId: string, id: string, options?: CallOptions): Promise<void> {
    await this.#send("DELETE", [tenantId, "api-keys", id], undefined, true, options)
  }

  /**
   * Stores or rotates a signing secret. One named `client:` and a client's name signs the shipment status and freight charges
   * of its subscriptions that name none. With a `secret` given, a lost call is repeated: the same secret again changes
   * nothing. Without one it is sent once: each time would make another secret and bring the oldest nearer to its end.
   */
  async putSecret(
    tenantId: string,
    hmacSecretId: string,
    settings: SecretSettings = {},
    options?: CallOptions
  ): Promise<SigningSecret> {
    return await this.#send("PUT", [tenantId, "secrets", hmacSecretId], settings, settings.secret !== undefined, options) as SigningSecret
  }

  async listDeliveries(tenantId: string, query: DeliveryQuery = {}, options?: CallOptions): Promise<DeliveriesPage> {
    const path = ["tenants", tenantId, "deliveries"]
    const answer = await this.#connection.send({ method: "GET", path, query: query as Query, repeatable: true }, options)
    const page = answer.json as DeliveriesPage | null | undefined
    if (!Array.isArray(page?.data)) throw new WaybillCallFailed(answer.call, "unreadable_answer", "the answer is not a page: it has no data.")
    if (page.nextCursor && page.nextCursor === query.cursor) throw new WaybillCallFailed(answer.call, "unreadable_answer", "the next page is this page again.")
    return page
  }

  /** Every delivery that matches, page after page as you go. */
  async *allDeliveries(
    tenantId: string,
    query: Omit<DeliveryQuery, "cursor"> = {},
    options?: CallOptions
  ): AsyncGenerator<Delivery, void, undefined> {
    let cursor: string | undefined
    while (true) {
      const page: DeliveriesPage = await this.listDeliveries(tenantId, { ...query, cursor }, options)
      yield* page.data
      cursor = page.nextCursor ?? undefined
      if (cursor === undefined) return
    }
  }

  /** With its exact body and every attempt. */
  async getDelivery(tenantId: string, deliveryId: string, options?: CallOptions): Promise<DeliveryInFull> {
    return await this.#send("GET", [tenantId, "deliveries", deliveryId], undefined, true, options) as DeliveryInFull
  }

  /** Sends one delivery again, under the same id. */
  async retryDelivery(tenantId: string, deliveryId: string, options?: CallOptions): Promise<void> {
    await this.#send("POST", [tenantId, "deliveries", deliveryId, "retry"], undefined, false, options)
  }

  /** Sends every dead letter since then again, under the same ids. Answers how many. */
  async recover(
    tenantId: string,
    subscriptionId: string,
    range: { readonly since: string | Date },
    options?: CallOptions
  ): Promise<number> {
    return await this.#sendAgain([tenantId, "subscriptions", subscriptionId, "recover"], range, "recovered", options)
  }

  /**
   * Sends history again, as new deliveries of the same events. Answers how many. Receivers that remember event ids skip
   * what they have.
   */
  async replay(tenantId: string, subscriptionId: string, range: ReplayRange, options?: CallOptions): Promise<number> {
    return await this.#sendAgain([tenantId, "subscriptions", subscriptionId, "replay"], range, "queued", options)
  }

  /**
   * Lets a suspended subscription to freight charges go on: dead letters since its suspension go out again under the same
   * ids, then what waited. One that is not suspended stays as it is.
   */
  async resume(tenantId: string, subscriptionId: string, options?: CallOptions): Promise<ChargeSubscription> {
    return await this.#send("POST", [tenantId, "subscriptions", subscriptionId, "resume"], undefined, true, options) as ChargeSubscription
  }

  async #sendAgain(
    path: ReadonlyArray<string>,
    body: unknown,
    counted: "recovered" | "queued",
    options: CallOptions | undefined
  ): Promise<number> {
    const answer = await this.#connection.send({ method: "POST", path: ["tenants", ...path], repeatable: false, body }, options)
    const count = (answer.json as Readonly<Record<string, unknown>> | null | undefined)?.[counted]
    if (typeof count !== "number") throw new WaybillCallFailed(answer.call, "unreadable_answer", `the answer has no ${counted}.`)
    return count
  }

  async #send(
    method: Call["method"],
    path: ReadonlyArray<string>,
    body: unknown,
    repeatable: boolean,
    options: CallOptions | undefined
  ): Promise<unknown> {
    const call: Call = { method, path: ["tenants", ...path], repeatable, ...(body === undefined ? {} : { body }) }
    return (await this.#connection.send(call, options)).json
  }
}
