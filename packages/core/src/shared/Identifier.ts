/** Identifiers that somebody else chose: shipments, events, accounts, clients, tenants. */
import { Schema } from "effect"

/** Text that survives every store and header: no control characters, no half surrogate pairs, no outer blanks. */
const printable = /^(?:[^\p{Cc}\p{Cs}\s]|[^\p{Cc}\p{Cs}\s](?:[^\p{Cc}\p{Cs}])*[^\p{Cc}\p{Cs}\s])$/u

const identifier = (what: string, maxLength: number) =>
  Schema.String.check(
    Schema.isMaxLength(maxLength, { message: `${what} has at most ${maxLength} characters.` }),
    Schema.isPattern(printable, { message: `${what} is 1 to ${maxLength} printable characters without outer blanks.` })
  )

/** Unique per tenant; UUID or ULID by convention, any printable text by tolerance. */
export const EventId = identifier("An eventId", 200)
export const ShipmentId = identifier("A shipmentId", 200)
/** A shipper's, consignee's or payer's number with the carrier. */
export const AccountNumber = identifier("An account number", 100)
/** The API key's name, or the JWT's subject. */
export const ClientName = identifier("A client name", 200)

/** A client as the operator names it: a key's name, or qualified. */
export const ClientIdentity = identifier("A client", 500)

/** The operator's own id of a tenant; stands in paths and keys, so it is plain. */
export const TenantId = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$/u, {
    message: "A tenant id is 1 to 63 letters, digits, hyphens or underscores, starting with a letter or digit."
  })
)

/** Names a stored secret; stands in paths and subscriptions. */
export const HmacSecretId = identifier("An hmacSecretId", 520)
