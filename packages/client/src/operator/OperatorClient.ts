/** Client of the operator API: tenants, keys, secrets, shipments across areas, and failed deliveries. */
import { type CallOptions, Connection, type ConnectionOptions, type Query } from "../connection/Connection.ts"
import { allPages, type ListedPage, cursorPage, type PageQuery } from "../connection/CursorPages.ts"
import { WaybillCallFailed } from "../connection/WaybillProblem.ts"
import type { PickupDecision, PickupReported } from "../intake/ReportedPickup.ts"
import type { AuditEntry, AuditQuery } from "./Audit.ts"
import type { ApiKey, ApiKeyCreate, Client, ListedApiKey } from "./ApiKey.ts"
import type { BulkResult, DeadLettersFilter, Delivery, DeliveryInFull, DeliveryQuery } from "./Delivery.ts"
import type { Explanation, ExplainSubject } from "./Explanation.ts"
import type { NamedShipment, ShipmentJourney } from "./Journey.ts"
import type { Health, OperatorSubscription, OperatorSubscriptionQuery, PurgeFilter, PurgeResult, ReplayRange, SubscriptionChange } from "./OperatorSubscription.ts"
import type { OperatorPickup, OperatorPickupQuery } from "./OperatorPickup.ts"
import type { PortalLink, PortalLinkCreate } from "./PortalLink.ts"
import type { Secret, SecretSettings, SigningSecret } from "./Secret.ts"
import type { Statistics, StatisticsQuery } from "./Statistics.ts"
import type { Limits, LimitsChange } from "./Limits.ts"
import type { Tenant, TenantSettings } from "./Tenant.ts"

/** One page of a list. */
export interface OperatorPage<A> extends ListedPage<A> {
  /** Of all pages, if it was asked for and could be counted fast. 10,000 means that many or more. */
  readonly total?: number
}

/** Newest first by default. It may be short, or empty, with a `nextCursor`. */
export interface DeliveriesPage extends OperatorPage<Delivery> {}

/** Calls that are not idempotent (another key, another generated secret, another attempt or replay) are never retried. */
export class OperatorClient {
  readonly #connection: Connection

  /** `basePath` is `/operator/v1` by default. `apiKey` is an operator key. */
  constructor(options: ConnectionOptions) {
    this.#connection = new Connection(options, "/operator/v1")
  }

  /** Creates or updates a tenant. */
  async putTenant(tenantId: string, settings: TenantSettings, options?: CallOptions): Promise<void> {
    await this.#connection.send({ method: "PUT", path: ["tenants", tenantId], body: settings, repeatable: true }, options)
  }

  /** All quotas of a tenant, defaults included. */
  getLimits(tenantId: string, options?: CallOptions): Promise<Limits> {
    return this.#connection.ask({ method: "GET", path: ["tenants", tenantId, "limits"], repeatable: true }, options)
  }

  /** Changes the given quotas; `null` resets one to its default. Returns all quotas. */
  putLimits(tenantId: string, change: LimitsChange, options?: CallOptions): Promise<Limits> {
    return this.#connection.ask({ method: "PUT", path: ["tenants", tenantId, "limits"], body: change, repeatable: true }, options)
  }

  /** The audit log, newest first. */
  async listAudit(query: AuditQuery = {}, options?: CallOptions): Promise<OperatorPage<AuditEntry>> {
    return await cursorPage(this.#connection, ["audit"], query, options)
  }

  /** Iterates over every matching entry, newest first, page by page. */
  allAudit(query: Omit<AuditQuery, "cursor"> = {}, options?: CallOptions): AsyncGenerator<AuditEntry, void, undefined> {
    return allPages((cursor) => this.listAudit({ ...query, cursor }, options))
  }

  createApiKey(tenantId: string, key: ApiKeyCreate, options?: CallOptions): Promise<ApiKey> {
    return this.#connection.ask({ method: "POST", path: ["tenants", tenantId, "api-keys"], body: key, repeatable: false }, options)
  }

  /** Keys that are not revoked, expired ones included. Never returns a key's value. */
  listApiKeys(tenantId: string, query: PageQuery = {}, options?: CallOptions): Promise<OperatorPage<ListedApiKey>> {
    return this.#page([tenantId, "api-keys"], query, options)
  }

  /** Ordered by client. */
  listClients(tenantId: string, query: PageQuery = {}, options?: CallOptions): Promise<OperatorPage<Client>> {
    return this.#page([tenantId, "clients"], query, options)
  }

  /** Iterates over every key, page by page. */
  allApiKeys(tenantId: string, query: Omit<PageQuery, "cursor"> = {}, options?: CallOptions): AsyncGenerator<ListedApiKey, void, undefined> {
    return this.#pages([tenantId, "api-keys"], query, options)
  }

  /** Iterates over every client, page by page. */
  allClients(tenantId: string, query: Omit<PageQuery, "cursor"> = {}, options?: CallOptions): AsyncGenerator<Client, void, undefined> {
    return this.#pages([tenantId, "clients"], query, options)
  }

  /**
   * Revokes the client's keys, closes its subscriptions, drops their waiting entries and removes its access. A bare
   * name means `key:<name>`.
   */
  async removeClient(tenantId: string, client: string, options?: CallOptions): Promise<void> {
    await this.#connection.send({ method: "DELETE", path: ["tenants", tenantId, "clients", client], repeatable: true }, options)
  }

  /** Refuses all calls of the tenant and sends nothing, on every node at once. */
  suspendTenant(tenantId: string, options?: CallOptions): Promise<Pick<Tenant, "tenantId" | "state">> {
    return this.#connection.ask({ method: "POST", path: ["tenants", tenantId, "suspend"], repeatable: true }, options)
  }

  /**
   * Deletes the tenant and all its data; `confirm` repeats the id. Data is removed in the background, and the id cannot
   * be reused until then.
   */
  async deleteTenant(tenantId: string, { confirm }: { readonly confirm: string }, options?: CallOptions): Promise<void> {
    await this.#connection.send({ method: "DELETE", path: ["tenants", tenantId], query: { confirm }, repeatable: true }, options)
  }

  resumeTenant(tenantId: string, options?: CallOptions): Promise<Pick<Tenant, "tenantId" | "state">> {
    return this.#connection.ask({ method: "POST", path: ["tenants", tenantId, "resume"], repeatable: true }, options)
  }

  /** Creates a link that opens a client's portal to everyone who has it. */
  createPortalLink(tenantId: string, link: PortalLinkCreate, options?: CallOptions): Promise<PortalLink> {
    return this.#connection.ask({ method: "POST", path: ["tenants", tenantId, "portal-links"], body: link, repeatable: false }, options)
  }

  /** Takes effect on every node at once. */
  async revokeApiKey(tenantId: string, id: string, options?: CallOptions): Promise<void> {
    await this.#connection.send({ method: "DELETE", path: ["tenants", tenantId, "api-keys", id], repeatable: true }, options)
  }

  /**
   * Stores or rotates a signing secret. A secret named `client:` plus a client name belongs to that client, and signs
   * its shipment status and freight charges when the subscription names no secret. Retried after a lost response when
   * `secret` is given or with `rotate: false`, because then a retry changes nothing. Without either it is sent once:
   * each call would generate another secret and shorten the life of the oldest.
   */
  async putSecret(tenantId: string, hmacSecretId: string, settings: SecretSettings = {}, options?: CallOptions): Promise<SigningSecret> {
    const repeatable = settings.secret !== undefined || settings.rotate === false
    return await this.#connection.ask({ method: "PUT", path: ["tenants", tenantId, "secrets", hmacSecretId], body: settings, repeatable }, options)
  }

  /** Ordered by hmacSecretId. Never returns a secret's value. */
  listSecrets(tenantId: string, query: PageQuery = {}, options?: CallOptions): Promise<OperatorPage<Secret>> {
    return this.#page([tenantId, "secrets"], query, options)
  }

  /** Iterates over every secret, page by page. */
  allSecrets(tenantId: string, query: Omit<PageQuery, "cursor"> = {}, options?: CallOptions): AsyncGenerator<Secret, void, undefined> {
    return this.#pages([tenantId, "secrets"], query, options)
  }

  /** Fails with 409 while a subscription uses the secret. */
  async deleteSecret(tenantId: string, hmacSecretId: string, options?: CallOptions): Promise<void> {
    await this.#connection.send({ method: "DELETE", path: ["tenants", tenantId, "secrets", hmacSecretId], repeatable: true }, options)
  }

  /** Ordered by tenantId. */
  listTenants(query: PageQuery = {}, options?: CallOptions): Promise<OperatorPage<Tenant>> {
    return this.#page([], query, options)
  }

  /** Iterates over every tenant, page by page. */
  allTenants(query: Omit<PageQuery, "cursor"> = {}, options?: CallOptions): AsyncGenerator<Tenant, void, undefined> {
    return this.#pages([], query, options)
  }

  /** Subscriptions of every client and area, ordered by subscriptionId, with their waiting entries and delivery state. */
  listSubscriptions(tenantId: string, query: OperatorSubscriptionQuery = {}, options?: CallOptions): Promise<OperatorPage<OperatorSubscription>> {
    return this.#page([tenantId, "subscriptions"], query, options)
  }

  getSubscription(tenantId: string, subscriptionId: string, options?: CallOptions): Promise<OperatorSubscription> {
    return this.#connection.ask({ method: "GET", path: ["tenants", tenantId, "subscriptions", subscriptionId], repeatable: true }, options)
  }

  /** Iterates over every matching subscription, page by page. */
  allSubscriptions(tenantId: string, query: Omit<OperatorSubscriptionQuery, "cursor"> = {}, options?: CallOptions): AsyncGenerator<OperatorSubscription, void, undefined> {
    return this.#pages([tenantId, "subscriptions"], query, options)
  }

  /** At most 20 shipments that match a shipmentId, PRO, bill of lading or purchase order. Empty when none matches. */
  async findShipments(tenantId: string, reference: string, options?: CallOptions): Promise<ReadonlyArray<NamedShipment>> {
    return (await this.#page<NamedShipment>([tenantId, "shipments"], { reference }, options)).data
  }

  /** Everything all areas know about one shipment, in chronological order, and the deliveries that contained it. */
  getJourney(tenantId: string, shipmentId: string, options?: CallOptions): Promise<ShipmentJourney> {
    return this.#connection.ask({ method: "GET", path: ["tenants", tenantId, "shipments", shipmentId, "journey"], repeatable: true }, options)
  }

  /** Pickups of every client; with `state: "waiting"` those that wait for the carrier's decision. */
  listPickups(tenantId: string, query: OperatorPickupQuery = {}, options?: CallOptions): Promise<OperatorPage<OperatorPickup>> {
    return this.#page([tenantId, "pickups"], query, options)
  }

  /** Iterates over every matching pickup, page by page. */
  allPickups(tenantId: string, query: Omit<OperatorPickupQuery, "cursor"> = {}, options?: CallOptions): AsyncGenerator<OperatorPickup, void, undefined> {
    return this.#pages([tenantId, "pickups"], query, options)
  }

  /**
   * Decides for the carrier on a pickup that waits for it. Rejects with status 409 if it is decided already, which a retry after a lost
   * response may meet too.
   */
  decidePickup(tenantId: string, pickupId: string, decision: PickupDecision, options?: CallOptions): Promise<PickupReported> {
    return this.#connection.ask({ method: "POST", path: ["tenants", tenantId, "pickups", pickupId, "decision"], body: decision, repeatable: true }, options)
  }

  listDeliveries(tenantId: string, query: DeliveryQuery = {}, options?: CallOptions): Promise<DeliveriesPage> {
    return this.#page([tenantId, "deliveries"], query, options)
  }

  /** Iterates over every matching delivery, page by page. */
  allDeliveries(tenantId: string, query: Omit<DeliveryQuery, "cursor"> = {}, options?: CallOptions): AsyncGenerator<Delivery, void, undefined> {
    return this.#pages([tenantId, "deliveries"], query, options)
  }

  /** The delivery with its exact body and every attempt. */
  getDelivery(tenantId: string, deliveryId: string, options?: CallOptions): Promise<DeliveryInFull> {
    return this.#connection.ask({ method: "GET", path: ["tenants", tenantId, "deliveries", deliveryId], repeatable: true }, options)
  }

  /** Sends one delivery again, with the same id. */
  async retryDelivery(tenantId: string, deliveryId: string, options?: CallOptions): Promise<void> {
    await this.#connection.send({ method: "POST", path: ["tenants", tenantId, "deliveries", deliveryId, "retry"], repeatable: false }, options)
  }

  /** Dismisses a dead letter: it is no longer counted or recovered. It can still be retried. */
  async dismissDelivery(tenantId: string, deliveryId: string, options?: CallOptions): Promise<void> {
    await this.#connection.send({ method: "POST", path: ["tenants", tenantId, "deliveries", deliveryId, "dismiss"], repeatable: true }, options)
  }

  /** Sends dead letters that match again, the oldest 500 of them: call again with `nextCursor` until it is null. A step that failed can be repeated. */
  retryDeadLetters(tenantId: string, filter: DeadLettersFilter, options?: CallOptions): Promise<BulkResult> {
    return this.#change([tenantId, "dead-letters", "retry"], filter, "retried", options)
  }

  /** Dismisses dead letters that match, the oldest 500 of them: call again with `nextCursor` until it is null. A step that failed can be repeated. */
  dismissDeadLetters(tenantId: string, filter: DeadLettersFilter, options?: CallOptions): Promise<BulkResult> {
    return this.#change([tenantId, "dead-letters", "dismiss"], filter, "dismissed", options)
  }

  /** Drops waiting entries of several subscriptions and cancels their retries, in steps: call again with `nextCursor` until it is null. */
  purgeMatching(tenantId: string, filter: PurgeFilter, options?: CallOptions): Promise<PurgeResult> {
    return this.#connection.ask({ method: "POST", path: ["tenants", tenantId, "purge"], body: filter, repeatable: false }, options)
  }

  /** Sends every dead letter since `since` again, with the same ids. Returns their number. */
  async recover(tenantId: string, subscriptionId: string, range: { readonly since: string | Date }, options?: CallOptions): Promise<number> {
    return (await this.#change([tenantId, "subscriptions", subscriptionId, "recover"], range, "recovered", options)).changed
  }

  /** Sends past events again as new deliveries. Returns their number. Receivers that deduplicate by event id skip known ones. */
  async replay(tenantId: string, subscriptionId: string, range: ReplayRange, options?: CallOptions): Promise<number> {
    return (await this.#change([tenantId, "subscriptions", subscriptionId, "replay"], range, "queued", options)).changed
  }

  /**
   * Changes endpoint, secret, delivery and filters of a subscription to transit events or pickups, by the rules of its client's own patch. Other areas
   * reject with status 400.
   */
  editSubscription(tenantId: string, subscriptionId: string, change: SubscriptionChange, options?: CallOptions): Promise<OperatorSubscription> {
    return this.#connection.ask({ method: "PATCH", path: ["tenants", tenantId, "subscriptions", subscriptionId], body: change, repeatable: true }, options)
  }

  /** Stops sending until it is resumed; new entries wait. Its client can read the reason and cannot resume it. */
  pause(tenantId: string, subscriptionId: string, cause: { readonly reason: string }, options?: CallOptions): Promise<OperatorSubscription> {
    return this.#connection.ask({ method: "POST", path: ["tenants", tenantId, "subscriptions", subscriptionId, "pause"], body: cause, repeatable: true }, options)
  }

  /**
   * Resumes a paused subscription of any area, also one that its client paused. For freight charges, dead letters since the pause are
   * sent again first, with the same ids. Has no effect on a subscription that is not paused.
   */
  resume(tenantId: string, subscriptionId: string, options?: CallOptions): Promise<OperatorSubscription> {
    return this.#connection.ask({ method: "POST", path: ["tenants", tenantId, "subscriptions", subscriptionId, "resume"], repeatable: true }, options)
  }

  /** Drops waiting entries and cancels retries. Returns the number of dropped entries. */
  async purge(tenantId: string, subscriptionId: string, options?: CallOptions): Promise<number> {
    return (await this.#change([tenantId, "subscriptions", subscriptionId, "purge"], undefined, "dropped", options)).changed
  }

  /** Deletes a subscription of any area, like a call of its client. */
  async deleteSubscription(tenantId: string, subscriptionId: string, options?: CallOptions): Promise<void> {
    await this.#connection.send({ method: "DELETE", path: ["tenants", tenantId, "subscriptions", subscriptionId], repeatable: true }, options)
  }

  /** Explains why a subscription did or did not receive an event, data of a shipment, or changes of a pickup. */
  explain(tenantId: string, subscriptionId: string, subject: ExplainSubject, options?: CallOptions): Promise<Explanation> {
    const query = { subscriptionId, ...subject } as unknown as Query
    return this.#connection.ask({ method: "GET", path: ["tenants", tenantId, "explain"], query, repeatable: true }, options)
  }

  /** Delivery health of each tenant, the worst first; covers the first 1,000 tenants. */
  health(options?: CallOptions): Promise<Health> {
    return this.#connection.ask({ method: "GET", path: ["health"], repeatable: true }, options)
  }

  /** Deliveries, failures, latency and waiting entries over time. A minute appears within two minutes after its end. */
  statistics(tenantId: string, query: StatisticsQuery = {}, options?: CallOptions): Promise<Statistics> {
    return this.#connection.ask({ method: "GET", path: ["tenants", tenantId, "statistics"], query: { ...query }, repeatable: true }, options)
  }

  #page<A>(path: ReadonlyArray<string>, query: object, options: CallOptions | undefined): Promise<OperatorPage<A>> {
    return cursorPage(this.#connection, ["tenants", ...path], query, options)
  }

  #pages<A>(path: ReadonlyArray<string>, query: object, options: CallOptions | undefined): AsyncGenerator<A, void, undefined> {
    return allPages((cursor) => this.#page<A>(path, { ...query, cursor }, options))
  }

  /** A call whose answer counts what it changed, under the name `counted`. */
  async #change(path: ReadonlyArray<string>, body: unknown, counted: string, options: CallOptions | undefined): Promise<BulkResult> {
    const answer = await this.#connection.send({ method: "POST", path: ["tenants", ...path], repeatable: false, body }, options)
    const { nextCursor, [counted]: changed } = (answer.json ?? {}) as Readonly<Record<string, unknown>>
    if (typeof changed !== "number") throw new WaybillCallFailed(answer.call, "unreadable_answer", `the answer has no ${counted}.`)
    return { changed, nextCursor: typeof nextCursor === "string" ? nextCursor : null }
  }
}
