/** Quotas of a tenant and of each of its clients. The operator can change each quota per tenant. */
import { Schema } from "effect"
import { LargeInteger, nullish } from "../../shared/Members.ts"
import { isObject } from "../../shared/Json.ts"

/** Every quota with its default. The names are part of the operator API and of error messages. SPEC-GAP-X6 */
export const defaultLimits = {
  /** Live transit event subscriptions of one client. */
  eventSubscriptionsPerClient: 100,
  /** Live freight charge subscriptions of one client. */
  chargeSubscriptionsPerClient: 20,
  /** Live shipment status subscriptions of one client. */
  statusSubscriptionsPerClient: 50_000,
  /** Live shipment status subscriptions of one client that follow the same reference: a carrier's report is queued for each of them. */
  statusSubscriptionsPerReference: 100,
  /** Live subscriptions of the tenant, over all areas and clients. */
  subscriptions: 200_000,
  /** Entries waiting for one subscription. Beyond it, the oldest are dropped in the background. */
  waitingPerSubscription: 1_000_000,
  /** Days that an entry may wait. Older ones are dropped in the background. */
  waitingDays: 7,
  /** Requests per second of one client without the role carrier, in each process. */
  requestsPerSecondPerCustomer: 500,
  /** Requests per second of one client with the role carrier, in each process. */
  requestsPerSecondPerCarrier: 5_000,
  /** Concurrent document uploads of one client, in each process. */
  uploadsPerClient: 8,
  /** Total size of the tenant's stored documents in bytes: 100 GiB. */
  documentBytes: 100 * 1024 ** 3,
  /** Files of all documents of one invoice number of one carrier. */
  documentsPerInvoice: 1_000,
  /** Total size of the histories of one client's pickups in bytes, with their entries in the carrier's work list: 10 GiB. */
  pickupBytesPerClient: 10 * 1024 ** 3
} as const

/** The name of a quota, as in `PUT …/limits` and in refusals. */
export type Quota = keyof typeof defaultLimits
/** A value for each quota: counts, days, calls a second or bytes (`documentBytes`, `pickupBytesPerClient`). */
export type Limits = { readonly [Name in Quota]: number }

/** The names of all quotas. */
export const quotas = Object.keys(defaultLimits) as ReadonlyArray<Quota>

/** Maxima above any real installation, and small enough for every database and JSON parser. */
const largest: { readonly [Name in Quota]?: number } = {
  waitingDays: 3650,
  requestsPerSecondPerCustomer: 1_000_000,
  requestsPerSecondPerCarrier: 1_000_000,
  uploadsPerClient: 10_000,
  documentBytes: 2 ** 50,
  pickupBytesPerClient: 2 ** 50
}

/** One entry and one day at least, because otherwise no delivery could be sent. */
const smallest: { readonly [Name in Quota]?: number } = { waitingPerSubscription: 1, waitingDays: 1 }

const limitOf = (quota: Quota) => {
  const minimum = smallest[quota] ?? 0
  const maximum = largest[quota] ?? 1_000_000_000
  return (maximum > 2 ** 31 ? LargeInteger : Schema.Int).check(Schema.isBetween({ minimum, maximum }, { message: `${quota} is an integer from ${minimum} to ${maximum}.` }))
}

type LimitSchema = ReturnType<typeof limitOf>

const each = <S>(make: (schema: LimitSchema) => S) =>
  Object.fromEntries(quotas.map((quota) => [quota, make(limitOf(quota))])) as { readonly [Name in Quota]: S }

/** Changes any quotas; `null` resets one to its default. */
export const LimitsChange = Schema.Struct(each((limit) => nullish(limit))).annotate({ identifier: "LimitsChange" })
export type LimitsChange = typeof LimitsChange.Type

/** All quotas of a tenant. */
export const LimitsShown = Schema.Struct(each((limit) => limit)).annotate({ identifier: "Limits" })

/** Only changed quotas are stored, so that a new default applies to tenants that use the old one. */
const storedLimits = (text: string | undefined): Partial<Limits> => {
  const stored: unknown = text === undefined ? {} : JSON.parse(text)
  if (!isObject(stored)) return {}
  return Object.fromEntries(Object.entries(stored).filter(([name, value]) => name in defaultLimits && typeof value === "number"))
}

/** All quotas, with defaults for those that are not stored. */
export const limitsOf = (text: string | undefined): Limits => ({ ...defaultLimits, ...storedLimits(text) })

/** The JSON to store after a change. */
export const changedLimits = (text: string | undefined, change: LimitsChange): string => {
  const merged: Record<string, number | null> = { ...storedLimits(text) }
  for (const [name, value] of Object.entries(change)) if (value !== undefined) merged[name] = value
  return JSON.stringify(Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null)))
}
