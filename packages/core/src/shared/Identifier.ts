/** Identifiers that callers choose: shipments, events, accounts, clients, tenants. */
import { Schema } from "effect"

/** Text that every store and header can carry: no control characters, no unpaired surrogates, no leading or trailing spaces. */
const printable = /^(?:[^\p{Cc}\p{Cs}\s]|[^\p{Cc}\p{Cs}\s](?:[^\p{Cc}\p{Cs}])*[^\p{Cc}\p{Cs}\s])$/u

const identifier = (what: string, maxLength: number) =>
  Schema.String.check(
    Schema.isMaxLength(maxLength, { message: `${what} has at most ${maxLength} characters.` }),
    Schema.isPattern(printable, { message: `${what} is 1 to ${maxLength} printable characters without leading or trailing spaces.` })
  )

/** Unique for its shipment. Usually a UUID or ULID; any printable text is accepted. */
export const EventId = identifier("An eventId", 200)
/** The sender's id of a shipment: 1 to 200 printable characters, unique in the tenant. */
export const ShipmentId = identifier("A shipmentId", 200)
/** A number that the carrier gave to a shipper, consignee or payer. */
export const AccountNumber = identifier("An account number", 100)
/** Name of an API key, or subject of a JWT. */
export const ClientName = identifier("A client name", 200)

/** A client in an operator's request: a key's name, or a qualified name. */
export const ClientIdentity = identifier("A client", 500)

/** The operator's id of a tenant. It appears in URL paths and keys, so it has plain characters only. */
export const TenantId = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/u, {
    message: "A tenant id is 1 to 63 letters, digits, hyphens or underscores, starting with a letter or digit."
  })
)

/** Id of a stored secret. It appears in URL paths and subscriptions. */
export const HmacSecretId = identifier("An hmacSecretId", 520)
