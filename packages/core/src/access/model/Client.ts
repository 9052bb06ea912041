/** Who a client is: `key:<name>` for API keys and hosts, `jwt:<issuer>:<sub>` for tokens. The two can never be one another. */
import { Schema } from "effect"
import { ClientName } from "../../shared/Identifier.ts"

const keyPrefix = "key:"
const tokenPrefix = "jwt:"

/** Longest qualified name, in characters. It stands in primary keys beside other ids, and an index row of Postgres has 2,704 bytes. */
export const maxClientLength = 500

const isClientName = Schema.is(ClientName)

const isPlainName = (name: string): boolean => isClientName(name) && !name.startsWith(keyPrefix) && !name.startsWith(tokenPrefix)

/** An API key's name, or the bare name of a host's principal. The prefixes are taken, so that a bare name never looks qualified. */
export const KeyName = ClientName.check(
  Schema.makeFilter((name: string) => isPlainName(name) || "A client name does not start with key: or jwt:.")
)

/** The client of API keys of this name. */
export const keyClient = (name: string): string => `${keyPrefix}${name}`

/**
 * The client of a token. `%` and `:` of the subject are percent-encoded, so that the last colon always ends the issuer: no two
 * pairs of issuer and subject give one name. `undefined` where the name would be too long or could not be stored.
 */
export const tokenClient = (issuer: string, subject: string): string | undefined => {
  const client = `${tokenPrefix}${issuer}:${subject.replaceAll("%", "%25").replaceAll(":", "%3A")}`
  return isClientName(subject) && isTokenClient(client) ? client : undefined
}

const isTokenClient = (client: string): boolean =>
  client.length <= maxClientLength && /^jwt:[^\p{Cc}\p{Cs}\s]+:[^\p{Cc}\p{Cs}\s:](?:[^\p{Cc}\p{Cs}:]*[^\p{Cc}\p{Cs}\s:])?$/u.test(client)

/** The name behind `key:`, or `undefined` for a token's client. */
export const keyNameOf = (client: string): string | undefined => client.startsWith(keyPrefix) ? client.slice(keyPrefix.length) : undefined

/** A bare name means the client of API keys: `shipper-tms` is `key:shipper-tms`. `key:…` and `jwt:<issuer>:<sub>` stay as they are. */
export const qualifiedClient = (text: string): string => text.startsWith(keyPrefix) || isTokenClient(text) ? text : keyClient(text)

/** The same for a name from outside; `undefined` where no client can have it. */
export const clientNamed = (text: string): string | undefined => {
  const client = qualifiedClient(text)
  const name = keyNameOf(client)
  return name === undefined || isPlainName(name) ? client : undefined
}
