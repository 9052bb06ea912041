/** API keys: their text and their stored form. */
import { Schema } from "effect"
import { Base64Url } from "effect/encoding"
import { AccountNumber } from "../../shared/Identifier.ts"
import { InstantText } from "../../shared/Instant.ts"
import { CarrierNumber } from "./CarrierNumbers.ts"
import { KeyName } from "./Client.ts"
import type { TenantState } from "./TenantState.ts"

/** What a key may do. */
export const KeyRole = Schema.Literals(["carrier", "customer"])

/** The operator's request for a new key. */
export const ApiKeyRequest = Schema.Struct({
  name: KeyName,
  roles: Schema.NonEmptyArray(KeyRole.annotate({ message: "A role is carrier or customer." }))
    .check(Schema.isMaxLength(10, { message: "At most 10 roles." })),
  accounts: Schema.optionalKey(Schema.Array(AccountNumber).check(Schema.isMaxLength(10_000, { message: "At most 10000 accounts." })).annotate({
    description: "Whose freight a customer sees. They do not limit the shipments of a carrier: it may receive freight charges of them, and use their signing secrets."
  })),
  dot: Schema.optionalKey(CarrierNumber),
  mc: Schema.optionalKey(CarrierNumber),
  /** A future instant. The key is refused from then on. */
  expiresAt: Schema.optionalKey(InstantText)
}).annotate({ identifier: "ApiKeyRequest" })
export type ApiKeyRequest = typeof ApiKeyRequest.Type

/** A stored key: its hash, never its secret part. */
export interface StoredApiKey {
  readonly id: string
  readonly name: string
  readonly roles: ReadonlyArray<typeof KeyRole.Type>
  readonly accounts: ReadonlyArray<string>
  readonly dot?: string
  readonly mc?: string
  /** SHA-256 of the whole key. The key holds 256 random bits, so a slow hash would add nothing. */
  readonly hash: Uint8Array
  /** Epoch milliseconds. */
  readonly expiresAt?: number
}

/** A key, with the state of its tenant, for authenticating a request. */
export interface FoundApiKey extends StoredApiKey {
  readonly tenantState: TenantState
}

/** A key in a list. */
export interface ListedApiKey extends Omit<StoredApiKey, "hash"> {
  readonly createdAt: number
  /** Written about once a minute. */
  readonly lastUsedAt?: number
}

/** The parts of a presented key that locate its row. The key contains the tenant, so that no lookup crosses tenants. */
interface KeyAddress {
  readonly tenantId: string
  readonly id: string
}

const encoder = new TextEncoder()

/** The text of a key that its client sends. It names the tenant and the key's id, so that one row is read to check it. */
export const formatApiKey = (address: KeyAddress, secret: Uint8Array): string =>
  `wb.${Base64Url.encode(encoder.encode(address.tenantId))}.${address.id}.${Base64Url.encode(secret)}`

const keyShape = /^wb\.([A-Za-z0-9_-]{2,90})\.([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.[A-Za-z0-9_-]{43}$/
const tenantShape = /^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/

/** Parses the location of a presented key; `undefined` when the text cannot be a Waybill key. */
export const keyAddress = (key: string): KeyAddress | undefined => {
  const match = keyShape.exec(key)
  if (match === null) return undefined
  const tenantId = asciiOf(match[1]!)
  return tenantId !== undefined && tenantShape.test(tenantId) ? { tenantId, id: match[2]! } : undefined
}

/** Decodes base64url. The bytes of other characters than ASCII become characters that no tenant id has. Every call with a key needs it. */
const asciiOf = (text: string): string | undefined => {
  try {
    return atob(text.replaceAll("-", "+").replaceAll("_", "/"))
  } catch {
    return undefined
  }
}

/** Compares hashes in constant time. */
export const sameHash = (a: Uint8Array, b: Uint8Array): boolean => {
  if (a.length !== b.length) return false
  let difference = 0
  for (let i = 0; i < a.length; i++) difference |= a[i]! ^ b[i]!
  return difference === 0
}
