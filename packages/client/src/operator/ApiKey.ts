/** API keys of a tenant, and the clients that they belong to. */

export interface ApiKeyCreate {
  /** Name of the client. Keys with the same name are one client, so a replaced key keeps its subscriptions. */
  readonly name: string
  readonly roles: ReadonlyArray<"carrier" | "customer">
  /** Whose freight a customer sees. They do not limit the shipments of a carrier, which may receive freight charges of them. */
  readonly accounts?: ReadonlyArray<string>
  readonly dot?: string
  readonly mc?: string
  /** The key stops working at this instant. */
  readonly expiresAt?: string | Date
}

/** An API key without its value. */
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
  /** Updated about once a minute. */
  readonly lastUsedAt: string | null
}

/** A client of a tenant: all keys of one name, or all tokens of one issuer and subject. */
export interface Client {
  /** `key:<name>`, or `jwt:<issuer>:<sub>` for tokens. */
  readonly client: string
  readonly accounts: ReadonlyArray<string>
  readonly roles: ReadonlyArray<string>
  /** Keys that are neither revoked nor expired. */
  readonly keys: number
  /** Across all areas. */
  readonly subscriptions: number
  readonly lastSeenAt: string | null
  /** `held`: the client has no access at present. Nothing is sent, and new entries wait. */
  readonly state: "live" | "held"
}

/** A new API key with its value. */
export interface ApiKey {
  readonly id: string
  /** Returned only once. */
  readonly key: string
}
