/** Input that the check cannot create: credentials, and existing data of the implementation. */
import { Result, Schema } from "effect"

const text = Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(10_000))

const Credentials = Schema.Union([Schema.Struct({ apiKey: text }), Schema.Struct({ bearer: text })])
export type Credentials = typeof Credentials.Type

const client = <F extends Schema.Struct.Fields>(more: F) => Schema.Union([Schema.Struct({ apiKey: text, ...more }), Schema.Struct({ bearer: text, ...more })])

const Client = client({ accounts: Schema.NonEmptyArray(text) })
const Carrier = client({ DOT: Schema.optionalKey(text), MC: Schema.optionalKey(text) })

const Shipment = Schema.Struct({
  shipmentId: text,
  proNumber: text,
  bolNumber: text,
  originPostalCode: text,
  poNumber: text,
  destinationPostalCode: text,
  accountNumber: text,
  /** A day, such as 2026-11-18. */
  pickupDate: text
})
export type KnownShipment = typeof Shipment.Type

/** Credentials and existing freight of the implementation: `--fixtures` of `waybill check --api`. `docs/conformance.md` explains each member. */
export const Fixtures = Schema.Struct({
  bases: Schema.optionalKey(Schema.Struct({
    a: Schema.optionalKey(text),
    b: Schema.optionalKey(text),
    c: Schema.optionalKey(text),
    d: Schema.optionalKey(text),
    e: Schema.optionalKey(text)
  })),
  clients: Schema.optionalKey(Schema.Struct({
    customer: Schema.optionalKey(Client),
    other: Schema.optionalKey(Client),
    carrier: Schema.optionalKey(Carrier)
  })),
  /** Bearer tokens of the customer, with its accounts: a valid one, and one that has expired. */
  tokens: Schema.optionalKey(Schema.Struct({ customer: Schema.optionalKey(text), expired: Schema.optionalKey(text) })),
  webhook: Schema.optionalKey(Schema.Struct({ hmacSecretId: text, secret: text })),
  shipment: Schema.optionalKey(Shipment),
  foreignShipment: Schema.optionalKey(Shipment),
  events: Schema.optionalKey(Schema.Struct({ shipmentIds: Schema.Array(text).check(Schema.isMinLength(2), Schema.isMaxLength(10)), foreignShipmentId: text })),
  bills: Schema.optionalKey(Schema.Struct({
    account: text,
    /** Bills of the account that are in flight. */
    uniqueIDs: Schema.Array(text).check(Schema.isMinLength(1), Schema.isMaxLength(100)),
    emptyAccount: text,
    foreignAccount: text
  }))
})
export type Fixtures = typeof Fixtures.Type

/** Texts that begin with `env:` name a variable, so that no secret has to be in the file. */
const withVariables = (value: unknown, environment: Readonly<Record<string, string | undefined>>): unknown => {
  if (typeof value === "string" && value.startsWith("env:")) {
    const found = environment[value.slice(4)]
    if (found === undefined || found === "") throw new RangeError(`The variable ${value.slice(4)}, which the fixtures name, is not set.`)
    return found
  }
  if (Array.isArray(value)) return value.map((each) => withVariables(each, environment))
  if (typeof value === "object" && value !== null) return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withVariables(each, environment)]))
  return value
}

/** Throws a `RangeError` that says what is wrong with the file. */
export const parseFixtures = (json: string, environment: Readonly<Record<string, string | undefined>>): Fixtures => {
  let value: unknown
  try {
    value = JSON.parse(json)
  } catch (error) {
    throw new RangeError(`The fixtures are not JSON: ${error instanceof Error ? error.message : String(error)}.`, { cause: error })
  }
  const read = Schema.decodeUnknownResult(Fixtures)(withVariables(value, environment), { onExcessProperty: "error", errors: "all" })
  if (Result.isSuccess(read)) return read.success
  throw new RangeError(`The fixtures are not as documented: ${read.failure.message.replaceAll(/\s+/g, " ").slice(0, 500)}`)
}

/** The valid bearer token of the customer. */
export const tokenIn = ({ clients = {}, tokens = {} }: Fixtures): string | undefined =>
  tokens.customer ?? (clients.customer !== undefined && "bearer" in clients.customer ? clients.customer.bearer : undefined)

/** Every secret of the fixtures, for redaction. */
export const secretsIn = ({ clients = {}, tokens = {}, webhook }: Fixtures): ReadonlyArray<string> => [
  ...Object.values(clients).map((each) => "bearer" in each ? each.bearer : each.apiKey),
  ...Object.values(tokens),
  ...(webhook === undefined ? [] : [webhook.secret])
]
