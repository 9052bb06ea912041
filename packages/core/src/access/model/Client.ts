/** Client identities: `key:<name>` for API keys and hosts, `jwt:<issuer>:<sub>` for tokens. The two forms never collide. */
import { Schema } from "effect"
import { ClientName } from "../../shared/Identifier.ts"

const keyPrefix = "key:"
const tokenPrefix = "jwt:"

/** Longest qualified name, in characters. It is part of primary keys with other ids, and a Postgres index row holds 2,704 bytes. */
export const maxClientLength = 500

const isClientName = Schema.is(ClientName)

const isPlainName = (name: string): boolean => isClientName(name) && !name.startsWith(keyPrefix) && !name.startsWith(tokenPrefix)

/** Name of an API key or of a host's principal. The prefixes are reserved, so that a bare name never looks qualified. */
export const KeyName = ClientName.check(
  Schema.makeFilter((name: string) => isPlainName(name) || "A client name does not start with key: or jwt:.")
)

/** The client of API keys with this name. */
export const keyClient = (name: string): string => `${keyPrefix}${name}`

/**
 * The client of a token. `%` and `:` in the subject are percent-encoded, so the last colon always ends the issuer, and different pairs
 * of issuer and subject give different names. `undefined` when the name would be too long or could not be stored.
 */
export const tokenClient = (issuer: string, subject: string): string | undefined => {
  const client = `${tokenPrefix}${issuer}:${subject.replaceAll("%", "%25").replaceAll(":", "%3A")}`
  return isClientName(subject) && isTokenClient(client) ? client : undefined
}

const isTokenClient = (client: string): boolean =>
  client.length <= maxClientLength && /^jwt:[^\p{Cc}\p{Cs}\s]+:[^\p{Cc}\p{Cs}\s:](?:[^\p{Cc}\p{Cs}:]*[^\p{Cc}\p{Cs}\s:])?$/u.test(client)

/** The name after `key:`; `undefined` for a token's client. */
export const keyNameOf = (client: string): string | undefined => client.startsWith(keyPrefix) ? client.slice(keyPrefix.length) : undefined

/** Qualifies a bare name: `shipper-tms` becomes `key:shipper-tms`. `key:…` and `jwt:<issuer>:<sub>` stay as they are. */
export const qualifiedClient = (text: string): string => text.startsWith(keyPrefix) || isTokenClient(text) ? text : keyClient(text)

/** Qualifies a name from outside; `undefined` when no client can have it. */
export const clientNamed = (text: string): string | undefined => {
  const client = qualifiedClient(text)
  const name = keyNameOf(client)
  return name === undefined || isPlainName(name) ? client : undefined
}
