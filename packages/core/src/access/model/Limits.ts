/** Quotas: how much a tenant and each of its clients may have or do. The operator may change each of them per tenant. */
import { Schema } from "effect"
import { isObject } from "../../shared/Json.ts"

/** Every quota with its default. Names are part of the operator API and of every refusal. */
export const defaultLimits = {
  /** Live subscriptions to transit events of one client. */
  eventSubscriptionsPerClient: 100,
  /** Live subscriptions to freight charges of one client. */
  chargeSubscriptionsPerClient: 20,
  /** Live subscriptions to shipment status of one client. */
  statusSubscriptionsPerClient: 50_000,
  /** Live subscriptions of the tenant, of all areas and clients. */
  subscriptions: 200_000,
  /** Entries that wait for one subscription. The oldest beyond it are dropped in the background. */
  waitingPerSubscription: 1_000_000,
  /** How many days an entry may wait. Older ones are dropped in the background. */
  waitingDays: 7,
  /** Requests a second of one client without the role carrier, in each process. */
  requestsPerSecondPerCustomer: 500,
  /** Requests a second of one client with the role carrier, in each process. */
  requestsPerSecondPerCarrier: 5_000,
  /** Document uploads of one client at the same time, in each process. */
  uploadsPerClient: 8,
  /** Bytes of all documents that the tenant stores: 100 GiB. */
  documentBytes: 100 * 1024 ** 3
} as const

export type Quota = keyof typeof defaultLimits
export type Limits = { readonly [Name in Quota]: number }

export const quotas = Object.keys(defaultLimits) as ReadonlyArray<Quota>

/** More than any installation holds, and small enough for every database and every JSON parser. */
const largest: { readonly [Name in Quota]?: number } = {
  waitingDays: 3650,
  requestsPerSecondPerCustomer: 1_000_000,
  requestsPerSecondPerCarrier: 1_000_000,
  uploadsPerClient: 10_000,
  documentBytes: Number.MAX_SAFE_INTEGER
}

/** At least one of each day and entry, so that a delivery can go out at all. */
const smallest: { readonly [Name in Quota]?: number } = { waitingPerSubscription: 1, waitingDays: 1 }

const limitOf = (quota: Quota) => {
  const minimum = smallest[quota] ?? 0
  const maximum = largest[quota] ?? 1_000_000_000
  return Schema.Int.check(Schema.isBetween({ minimum, maximum }, { message: `${quota} is an integer from ${minimum} to ${maximum}.` }))
}

type LimitSchema = ReturnType<typeof limitOf>

const each = <S>(make: (schema: LimitSchema) => S) =>
  Object.fromEntries(quotas.map((quota) => [quota, make(limitOf(quota))])) as { readonly [Name in Quota]: S }

/** Any of the quotas; `null` returns one to its default. */
export const LimitsChange = Schema.Struct(each((limit) => Schema.optionalKey(Schema.NullOr(limit)))).annotate({ identifier: "LimitsChange" })
export type LimitsChange = typeof LimitsChange.Type

/** All quotas of a tenant. */
export const LimitsShown = Schema.Struct(each((limit) => limit)).annotate({ identifier: "Limits" })

/** What is stored of a tenant is only what the operator changed, so that a new default reaches tenants that have the old one. */
export const storedLimits = (text: string | undefined): Partial<Limits> => {
  const stored: unknown = text === undefined ? {} : JSON.parse(text)
  if (!isObject(stored)) return {}
  return Object.fromEntries(Object.entries(stored).filter(([name, value]) => name in defaultLimits && typeof value === "number"))
}

/** All quotas, from what is stored of a tenant. */
export const limitsOf = (text: string | undefined): Limits => ({ ...defaultLimits, ...storedLimits(text) })

/** The text to store after a change. */
export const changedLimits = (text: string | undefined, change: LimitsChange): string => {
  const merged: Record<string, number | null> = { ...storedLimits(text) }
  for (const [name, value] of Object.entries(change)) if (value !== undefined) merged[name] = value
  return JSON.stringify(Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null)))
}
