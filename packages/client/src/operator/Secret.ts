/** Signing secrets of a tenant. */

/** A new secret needs exactly one of `client`, `accounts` and `anyClient`. Later at most one, which replaces the owner. */
export interface SecretSettings {
  /** `whsec_…`. Default: generated. */
  readonly secret?: string
  /** `shipper-tms` is the client of API keys `key:shipper-tms`; the client of a token is `jwt:<issuer>:<sub>`. */
  readonly client?: string
  /** Clients with one of these accounts may use the secret. */
  readonly accounts?: ReadonlyArray<string>
  /** Every client of the tenant may use the secret. */
  readonly anyClient?: true
  /** `false`: change only the owner and `bodySignature`. */
  readonly rotate?: false
  /** How long the previous secret keeps signing. The server's default is one day. */
  readonly overlapSeconds?: number
  /** Also send the older `X-Signature` with deliveries, made with the newest secret only. */
  readonly bodySignature?: boolean
}

/** A signing secret with its value, `whsec_…`. The server shows it only here. */
export interface SigningSecret {
  readonly hmacSecretId: string
  readonly secret: string
}

/** A listed secret, without its value. */
export interface Secret {
  readonly hmacSecretId: string
  /** Full name: `key:<name>` or `jwt:<issuer>:<sub>`. */
  readonly client: string | null
  readonly accounts: ReadonlyArray<string>
  readonly anyClient: boolean
  readonly createdAt: string
  readonly rotatedAt: string | null
  /** When its last older version stops signing. */
  readonly signsUntil: string | null
  /** Number of subscriptions signed with it, counted up to 1,000. */
  readonly usedBy: number
}
