/** What whoever runs the server does: tenants, keys, secrets, shipments across areas, and deliveries that went wrong. */
import { type Call, type CallOptions, Connection, type ConnectionOptions, type Query } from "../connection/Connection.ts"
import { WaybillCallFailed } from "../connection/WaybillProblem.ts"
import type { AuditEntry, AuditQuery } from "./Audit.ts"
import type { Delivery, DeliveryInFull, DeliveryState } from "./Delivery.ts"
import type { Explanation, ExplainSubject } from "./Explanation.ts"
import type { NamedShipment, ShipmentJourney } from "./Journey.ts"
import type { Health, OperatorSubscription, SubscriptionState } from "./OperatorSubscription.ts"
import type { Limits, LimitsChange } from "./Limits.ts"

export interface TenantSettings {
  readonly name: string
  /** Host names whose public lookups are this tenant's. */
  readonly hosts?: ReadonlyArray<string>
}

export interface Tenant {
  readonly tenantId: string
  readonly name: string
  readonly hosts: ReadonlyArray<string>
  /** `suspended`: refused everywhere, and nothing is sent. */
  readonly state: "active" | "suspended"
}

export interface ApiKeyCreate {
  /** Keys of one name are one client, so a replaced key keeps its subscriptions. */
  readonly name: string
  readonly roles: ReadonlyArray<"carrier" | "customer">
  /** Whose shipments a customer sees. */
  readonly accounts?: ReadonlyArray<string>
  readonly dot?: string
  readonly mc?: string
  /** The key is refused from this future instant on. */
  readonly expiresAt?: string | Date
}

export interface ListedApiKey {
  readonly id: string
  readonly name: string
  /** `key:<name>`. */
  readonly client: string
  readonly roles: ReadonlyArray<string>
  readonly accounts: ReadonlyArray<string>
  readonly dot: string | null
  readonly mc: string | null
  readonly createdAt: string
  readonly expiresAt: string | null
  /** Written about once a minute. */
  readonly lastUsedAt: string | null
}

export interface Client {
  /** `key:<name>`, or `jwt:<issuer>:<sub>` of a token. */
  readonly client: string
  readonly accounts: ReadonlyArray<string>
  readonly roles: ReadonlyArray<string>
  /** Keys that are neither revoked nor expired. */
  readonly keys: number
  /** Of all areas. */
  readonly subscriptions: number
  readonly lastSeenAt: string | null
  /** `held`: it has no access at present, so nothing is sent, and what comes waits. */
  readonly state: "live" | "held"
}

export interface ApiKey {
  readonly id: string
  /** Shown this once. */
  readonly key: string
}

/** Exactly one of `client`, `accounts` and `anyClient` when the secret is new; at most one later, which replaces the owner. */
export interface SecretSettings {
  /** `whsec_…`; generated when left out. */
  readonly secret?: string
  /** `shipper-tms` is the client of API keys `key:shipper-tms`; a token's client is `jwt:<issuer>:<sub>`. */
  readonly client?: string
  /** Clients with one of these accounts may use the secret. */
  readonly accounts?: ReadonlyArray<string>
  /** On purpose, every client of the tenant. */
  readonly anyClient?: true
  /** `false`: only the owner and `bodySignature` change. */
  readonly rotate?: false
  /** How long the secret before this one signs as well. The server's default is a day. */
  readonly overlapSeconds?: number
  /** Deliveries carry the older `X-Signature` as well, made with the newest secret only. */
  readonly bodySignature?: boolean
}

export interface SigningSecret {
  readonly hmacSecretId: string
  readonly secret: string
}

/** A secret in a list: everything but the secret. */
export interface Secret {
  readonly hmacSecretId: string
  /** Qualified: `key:<name>` or `jwt:<issuer>:<sub>`. */
  readonly client: string | null
  readonly accounts: ReadonlyArray<string>
  readonly anyClient: boolean
  readonly createdAt: string
  readonly rotatedAt: string | null
  /** When the last of its older versions stops to sign. */
  readonly signsUntil: string | null
  /** Subscriptions that are signed with it, counted up to 1,000. */
  readonly usedBy: number
}

export interface DeliveryQuery {
  readonly state?: DeliveryState | undefined
  readonly subscriptionId?: string | undefined
  /** A bare name means `key:<name>`. Deliveries of deleted subscriptions are left out. */
  readonly client?: string | undefined
  /** Created at this time or later. */
  readonly since?: string | Date | undefined
  /** Of their creation. The server's default is `newest` first. */
  readonly order?: "oldest" | "newest" | undefined
  /** How many in one page: 1 to 500. */
  readonly limit?: number | undefined
  /** `nextCursor` of the page before, asked for in the same order. */
  readonly cursor?: string | undefined
}

/** Which page of a list. */
export interface PageQuery {
  /** How many in one page: 1 to 500; the server's default is 100. */
  readonly limit?: number | undefined
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined
}

export interface OperatorSubscriptionQuery extends PageQuery {
  /** Only subscriptions of this client. A bare name means `key:<name>`. */
  readonly client?: string | undefined
  /** Only subscriptions in this state. */
  readonly state?: SubscriptionState | undefined
}

/** One page of a list. */
export interface OperatorPage<A> {
  readonly data: ReadonlyArray<A>
  /** Absent or `null` on the last page. */
  readonly nextCursor?: string | null
}

/** Newest first, unless the query says otherwise. */
export interface DeliveriesPage extends OperatorPage<Delivery> {}

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

  /** All quotas of a tenant, those that were never changed with their defaults. */
  async getLimits(tenantId: string, options?: CallOptions): Promise<Limits> {
    return await this.#send("GET", [tenantId, "limits"], undefined, true, options) as Limits
  }

  /** Changes the quotas that are named; `null` returns one to its default. Answers all. */
  async putLimits(tenantId: string, change: LimitsChange, options?: CallOptions): Promise<Limits> {
    return await this.#send("PUT", [tenantId, "limits"], change, true, options) as Limits
  }

  /** The audit log, newest first. */
  async listAudit(query: AuditQuery = {}, options?: CallOptions): Promise<OperatorPage<AuditEntry>> {
    return await this.#pageOf(["audit"], query, options)
  }

  /** Every entry that matches, newest first, page after page as you go. */
  async *allAudit(query: Omit<AuditQuery, "cursor"> = {}, options?: CallOptions): AsyncGenerator<AuditEntry, void, undefined> {
    let cursor: string | undefined
    do {
      const page: OperatorPage<AuditEntry> = await this.listAudit({ ...query, cursor }, options)
      yield* page.data
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
  }

  async createApiKey(tenantId: string, key: ApiKeyCreate, options?: CallOptions): Promise<ApiKey> {
    return await this.#send("POST", [tenantId, "api-keys"], key, false, options) as ApiKey
  }

  /** Those that were not revoked, expired ones too. Never a key itself. */
  listApiKeys(tenantId: string, query: PageQuery = {}, options?: CallOptions): Promise<OperatorPage<ListedApiKey>> {
    return this.#page([tenantId, "api-keys"], query, options)
  }

  /** By client. */
  listClients(tenantId: string, query: PageQuery = {}, options?: CallOptions): Promise<OperatorPage<Client>> {
    return this.#page([tenantId, "clients"], query, options)
  }

  /** Every key, page after page as you go. */
  allApiKeys(tenantId: string, query: Omit<PageQuery, "cursor"> = {}, options?: CallOptions): AsyncGenerator<ListedApiKey, void, undefined> {
    return this.#pages([tenantId, "api-keys"], query, options)
  }

  /** Every client, page after page as you go. */
  allClients(tenantId: string, query: Omit<PageQuery, "cursor"> = {}, options?: CallOptions): AsyncGenerator<Client, void, undefined> {
    return this.#pages([tenantId, "clients"], query, options)
  }

  /** Revokes its keys, closes its subscriptions, drops what waits and forgets its access. A bare name means `key:<name>`. */
  async removeClient(tenantId: string, client: string, options?: CallOptions): Promise<void> {
    await this.#send("DELETE", [tenantId, "clients", client], undefined, true, options)
  }

  /** The tenant's callers are refused and nothing is sent, on every node at once. */
  async suspendTenant(tenantId: string, options?: CallOptions): Promise<Pick<Tenant, "tenantId" | "state">> {
    return await this.#send("POST", [tenantId, "suspend"], undefined, true, options) as Pick<Tenant, "tenantId" | "state">
  }

  /** With everything of it; `confirm` is the id once more. Its data goes in the background, and until then its id cannot be used again. */
  async deleteTenant(tenantId: string, { confirm }: { readonly confirm: string }, options?: CallOptions): Promise<void> {
    await this.#connection.send({ method: "DELETE", path: ["tenants", tenantId], query: { confirm }, repeatable: true }, options)
  }

  async resumeTenant(tenantId: string, options?: CallOptions): Promise<Pick<Tenant, "tenantId" | "state">> {
    return await this.#send("POST", [tenantId, "resume"], undefined, true, options) as Pick<Tenant, "tenantId" | "state">
  }

  /** Works at once on every node. */
  async revokeApiKey(tenantId: string, id: string, options?: CallOptions): Promise<void> {
    await this.#send("DELETE", [tenantId, "api-keys", id], undefined, true, options)
  }

  /**
   * Stores or rotates a signing secret. One named `client:` and a client's name belongs to that client, and signs its shipment
   * status and freight charges where its subscriptions name none. A lost call is repeated when a `secret` is given or with
   * `rotate: false`: the same call again changes nothing. Without either it is sent once: each time would make another secret
   * and bring the oldest nearer to its end.
   */
  async putSecret(
    tenantId: string,
    hmacSecretId: string,
    settings: SecretSettings = {},
    options?: CallOptions
  ): Promise<SigningSecret> {
    return await this.#send("PUT", [tenantId, "secrets", hmacSecretId], settings, settings.secret !== undefined || settings.rotate === false, options) as SigningSecret
  }

  /** By hmacSecretId; never a secret itself. */
  listSecrets(tenantId: string, query: PageQuery = {}, options?: CallOptions): Promise<OperatorPage<Secret>> {
    return this.#page([tenantId, "secrets"], query, options)
  }

  /** Every secret, page after page as you go. */
  allSecrets(tenantId: string, query: Omit<PageQuery, "cursor"> = {}, options?: CallOptions): AsyncGenerator<Secret, void, undefined> {
    return this.#pages([tenantId, "secrets"], query, options)
  }

  /** Refused with 409 while a subscription is signed with it. */
  async deleteSecret(tenantId: string, hmacSecretId: string, options?: CallOptions): Promise<void> {
    await this.#send("DELETE", [tenantId, "secrets", hmacSecretId], undefined, true, options)
  }

  /** By tenantId. */
  listTenants(query: PageQuery = {}, options?: CallOptions): Promise<OperatorPage<Tenant>> {
    return this.#page([], query, options)
  }

  /** Every tenant, page after page as you go. */
  allTenants(query: Omit<PageQuery, "cursor"> = {}, options?: CallOptions): AsyncGenerator<Tenant, void, undefined> {
    return this.#pages([], query, options)
  }

  /** Subscriptions of every client and area, by subscriptionId, with what waits for them and how they do. */
  listSubscriptions(tenantId: string, query: OperatorSubscriptionQuery = {}, options?: CallOptions): Promise<OperatorPage<OperatorSubscription>> {
    return this.#page([tenantId, "subscriptions"], query, options)
  }

  /** One of them. */
  async getSubscription(tenantId: string, subscriptionId: string, options?: CallOptions): Promise<OperatorSubscription> {
    return await this.#send("GET", [tenantId, "subscriptions", subscriptionId], undefined, true, options) as OperatorSubscription
  }

  /** Every subscription that matches, page after page as you go. */
  allSubscriptions(tenantId: string, query: Omit<OperatorSubscriptionQuery, "cursor"> = {}, options?: CallOptions): AsyncGenerator<OperatorSubscription, void, undefined> {
    return this.#pages([tenantId, "subscriptions"], query, options)
  }

  /** Shipments, 20 at most, that a shipmentId, PRO, bill of lading or purchase order names. None is an empty list. */
  async findShipments(tenantId: string, reference: string, options?: CallOptions): Promise<ReadonlyArray<NamedShipment>> {
    return (await this.#page<NamedShipment>([tenantId, "shipments"], { reference }, options)).data
  }

  /** Everything that all areas know of one shipment, in the order it happened, and what carried it to receivers. */
  async getJourney(tenantId: string, shipmentId: string, options?: CallOptions): Promise<ShipmentJourney> {
    return await this.#send("GET", [tenantId, "shipments", shipmentId, "journey"], undefined, true, options) as ShipmentJourney
  }

  listDeliveries(tenantId: string, query: DeliveryQuery = {}, options?: CallOptions): Promise<DeliveriesPage> {
    return this.#page([tenantId, "deliveries"], query, options)
  }

  /** Every delivery that matches, page after page as you go. */
  allDeliveries(
    tenantId: string,
    query: Omit<DeliveryQuery, "cursor"> = {},
    options?: CallOptions
  ): AsyncGenerator<Delivery, void, undefined> {
    return this.#pages([tenantId, "deliveries"], query, options)
  }

  /** With its exact body and every attempt. */
  async getDelivery(tenantId: string, deliveryId: string, options?: CallOptions): Promise<DeliveryInFull> {
    return await this.#send("GET", [tenantId, "deliveries", deliveryId], undefined, true, options) as DeliveryInFull
  }

  /** Sends one delivery again, under the same id. */
  async retryDelivery(tenantId: string, deliveryId: string, options?: CallOptions): Promise<void> {
    await this.#send("POST", [tenantId, "deliveries", deliveryId, "retry"], undefined, false, options)
  }

  /** Puts a dead letter aside: it no longer counts and is not recovered. It can still be retried. */
  async dismissDelivery(tenantId: string, deliveryId: string, options?: CallOptions): Promise<void> {
    await this.#send("POST", [tenantId, "deliveries", deliveryId, "dismiss"], undefined, true, options)
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

  /** Sends nothing more until it is resumed; what comes waits. Its client reads the reason and cannot resume it. */
  async pause(tenantId: string, subscriptionId: string, cause: { readonly reason: string }, options?: CallOptions): Promise<OperatorSubscription> {
    return await this.#send("POST", [tenantId, "subscriptions", subscriptionId, "pause"], cause, true, options) as OperatorSubscription
  }

  /**
   * Lets a paused subscription of any area go on, whoever paused it. Of freight charges, dead letters since the pause go out again
   * first, under the same ids. One that is not paused stays as it is.
   */
  async resume(tenantId: string, subscriptionId: string, options?: CallOptions): Promise<OperatorSubscription> {
    return await this.#send("POST", [tenantId, "subscriptions", subscriptionId, "resume"], undefined, true, options) as OperatorSubscription
  }

  /** Drops what waits and cancels retries. Answers how many entries were dropped. */
  async purge(tenantId: string, subscriptionId: string, options?: CallOptions): Promise<number> {
    return await this.#sendAgain([tenantId, "subscriptions", subscriptionId, "purge"], undefined, "dropped", options)
  }

  /** Deletes a subscription of any area, as if its client had done it. */
  async deleteSubscription(tenantId: string, subscriptionId: string, options?: CallOptions): Promise<void> {
    await this.#send("DELETE", [tenantId, "subscriptions", subscriptionId], undefined, true, options)
  }

  /** Why a subscription did or did not receive an event, or what concerns a shipment. */
  async explain(tenantId: string, subscriptionId: string, subject: ExplainSubject, options?: CallOptions): Promise<Explanation> {
    const query = { subscriptionId, ...subject } as unknown as Query
    return (await this.#connection.send({ method: "GET", path: ["tenants", tenantId, "explain"], query, repeatable: true }, options)).json as Explanation
  }

  /** How deliveries of each tenant do, the worst first; of the first 1,000 tenants. */
  async health(options?: CallOptions): Promise<Health> {
    return (await this.#connection.send({ method: "GET", path: ["health"], repeatable: true }, options)).json as Health
  }

  #page<A>(path: ReadonlyArray<string>, query: object, options: CallOptions | undefined): Promise<OperatorPage<A>> {
    return this.#pageOf(["tenants", ...path], query, options)
  }

  async #pageOf<A>(path: ReadonlyArray<string>, query: object, options: CallOptions | undefined): Promise<OperatorPage<A>> {
    const answer = await this.#connection.send({ method: "GET", path, query: query as Query, repeatable: true }, options)
    const page = answer.json as OperatorPage<A> | null | undefined
    if (!Array.isArray(page?.data)) throw new WaybillCallFailed(answer.call, "unreadable_answer", "the answer is not a page: it has no data.")
    if (page.nextCursor && page.nextCursor === (query as PageQuery).cursor) throw new WaybillCallFailed(answer.call, "unreadable_answer", "the next page is this page again.")
    return page
  }

  async *#pages<A>(path: ReadonlyArray<string>, query: object, options: CallOptions | undefined): AsyncGenerator<A, void, undefined> {
    let cursor: string | undefined
    while (true) {
      const page: OperatorPage<A> = await this.#page(path, { ...query, cursor }, options)
      yield* page.data
      cursor = page.nextCursor ?? undefined
      if (cursor === undefined) return
    }
  }

  async #sendAgain(
    path: ReadonlyArray<string>,
    body: unknown,
    counted: "recovered" | "queued" | "dropped",
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
