/** Looks up shipments by PRO, bill of lading, purchase order, or account and pickup dates. */
import { Context, Effect, Layer, Schema } from "effect"
import type { NotPermitted } from "../access/AccessErrors.ts"
import { carriersAndCustomers, carriersOnly } from "../access/Callers.ts"
import { carrierNamed, type NamedCarrier } from "../access/model/CarrierNumbers.ts"
import { carrierOf, isCarrier, isOwn, type Principal, visibilityOf } from "../access/model/Principal.ts"
import { fault } from "../shared/Fault.ts"
import { makeRequestBatcher } from "../shared/RequestBatcher.ts"
import { AccountNumber } from "../shared/Identifier.ts"
import { parseInstant } from "../shared/Instant.ts"
import { decodeInput, InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StoragePort.ts"
import { traced } from "../shared/TraceContext.ts"
import { type LookupCaller, makeLookupLimiter } from "./LookupLimiter.ts"
import { mapPaced } from "../shared/Turns.ts"
import { DateOrInstant, isDateOnly } from "./model/FreightShapes.ts"
import { keyOf, type LookupBy } from "./model/LookupKey.ts"
import type { ReportOutcome } from "./model/StatusReport.ts"
import { PublicBody, publicOf, VerifiedBody } from "./model/VerifiedShipment.ts"
import { AccountNotFound, AccountNotPermitted, ShipmentNotFound, type TooManyLookups } from "./ShipmentStatusErrors.ts"
import { ShipmentStatusStore, type StatusLookup } from "./ShipmentStatusStore.ts"

/** Result of a verified lookup: all fields of the caller's own freight, four fields of other freight. */
export type VerifiedAnswer =
  | { readonly _tag: "Verified"; readonly body: VerifiedBody }
  | { readonly _tag: "Public"; readonly body: PublicBody }

/** Most shipments in one answer by account. */
export const maxPickedUp = 5000

/** Bytes in one answer by account, about: the shipment that reaches them is the last one. */
export const maxPickedUpBytes = 16 * 1024 ** 2

/** Pickup range, both bounds inclusive: dates (whole days in UTC) or date-times with an offset. SPEC-GAP-A6 */
export const PickedUpQuery = Schema.Struct({
  accountNumber: Schema.String,
  startDate: DateOrInstant,
  endDate: DateOrInstant
}).annotate({ identifier: "PickedUpQuery" })
export type PickedUpQuery = typeof PickedUpQuery.Type

/** Result of one report on a shipment. */
export interface StatusHistory {
  readonly position: number
  readonly occurredAt: string
  readonly outcome: ReportOutcome
  /** The report's content as Waybill understood it. */
  readonly report: Readonly<Record<string, unknown>>
}

/** Everything stored about one shipment, for its carrier. */
export interface ShipmentRecord {
  readonly shipmentId: string
  /** Accounts that may see it. */
  readonly accounts: ReadonlyArray<string>
  /** The shipment's carrier, if one was stated: numbers without prefix, separators and leading zeros. */
  readonly carrier: NamedCarrier | null
  /** Whether lookups find the shipment: its first milestone is known. */
  readonly covered: boolean
  /** The full answer. It has no milestone while `covered` is false. */
  readonly shipment: VerifiedBody
  readonly history: ReadonlyArray<StatusHistory>
}

type LookupFailure = ShipmentNotFound | TooManyLookups | StorageError

/** Single lookups run in batches, outside the caller's transaction. */
export class ShipmentStatuses extends Context.Service<ShipmentStatuses, {
  /** Finds one shipment, with the fields that the caller may see. If several match, the caller's own comes first, then the newest. SPEC-GAP-A5 */
  readonly verified: (principal: Principal, by: LookupBy) => Effect.Effect<VerifiedAnswer, LookupFailure | NotPermitted>
  /**
   * Finds one shipment with its public fields. The lookup counts against `caller`, unless the shipment belongs to `principal`, who is in
   * the caller's tenant.
   */
  readonly public: (caller: LookupCaller, by: LookupBy, principal?: Principal) => Effect.Effect<PublicBody, LookupFailure>
  /** Lists an account's shipments that were picked up in a range, in the order of pickup. May be empty. */
  readonly pickedUp: (
    principal: Principal,
    query: typeof PickedUpQuery.Encoded
  ) => Effect.Effect<
    ReadonlyArray<VerifiedBody>,
    AccountNotFound | AccountNotPermitted | TooManyLookups | InvalidInput | NotPermitted | StorageError
  >
  /** For carriers: a shipment with its accounts and history, without what is older than `maxHistoryBytes` of it. */
  readonly record: (principal: Principal, shipmentId: string) => Effect.Effect<ShipmentRecord, ShipmentNotFound | NotPermitted | StorageError>
}>()("@waybill/core/shipment-status/ShipmentStatuses") {
  static readonly layer = Layer.effect(ShipmentStatuses, Effect.gen(function*() {
    const store = yield* ShipmentStatusStore
    const find = yield* makeRequestBatcher(store.find)
    const lookupLimiter = yield* makeLookupLimiter

    const verified = Effect.fnUntraced(function*(principal: Principal, by: LookupBy) {
      yield* carriersAndCustomers(principal)
      const key = usableKey(by)
      const own = ownOf(principal)
      const found = key === undefined ? undefined : yield* find(principal.tenantId, { key, own })
      if (found?.own === true) return { _tag: "Verified" as const, body: new VerifiedBody(found.verified) }
      // other parties' and missing shipments count equally, so that the limit does not reveal whether a shipment exists
      if (own !== "all") yield* lookupLimiter.take(principal)
      if (found === undefined || knowsOwnOnly(principal)) return yield* notFound(by)
      return { _tag: "Public" as const, body: new PublicBody(found.public) }
    }, traced("ShipmentStatuses.verified"))

    const publicly = Effect.fnUntraced(function*(caller: LookupCaller, by: LookupBy, principal?: Principal) {
      const own = principal === undefined ? [] : ownOf(principal)
      // a caller without freight of its own is limited before any read
      if (own.length === 0) yield* lookupLimiter.take(caller)
      const key = usableKey(by)
      const found = key === undefined ? undefined : yield* find(caller.tenantId, { key, own })
      if (found?.own === true) return publicBodyOf(found.verified)
      if (own !== "all" && own.length > 0) yield* lookupLimiter.take(caller)
      if (found === undefined || knowsOwnOnly(principal)) return yield* notFound(by)
      return new PublicBody(found.public)
    }, traced("ShipmentStatuses.public"))

    /** An account number that cannot be stored is unknown. */
    const accountKnown = (principal: Principal, accountNumber: string) =>
      isAccountNumber(accountNumber) ? store.accountKnown(principal.tenantId, accountNumber, carrierOf(principal)) : Effect.succeed(false)

    /** Fails unless the caller may list this account. */
    const checkAccount = Effect.fnUntraced(function*(principal: Principal, accountNumber: string) {
      if (isCarrier(principal)) {
        if (!(yield* accountKnown(principal, accountNumber))) return yield* new AccountNotFound({ accountNumber })
        return
      }
      if (principal.accounts.includes(accountNumber)) return
      yield* lookupLimiter.take(principal)
      return yield* (yield* accountKnown(principal, accountNumber))
        ? new AccountNotPermitted({ accountNumber })
        : new AccountNotFound({ accountNumber })
    })

    const pickedUp = Effect.fn("ShipmentStatuses.pickedUp")(function*(principal: Principal, input: unknown) {
      yield* carriersAndCustomers(principal)
      const query = yield* decodeQuery(input)
      const from = firstInstant(query.startDate)
      const to = lastInstant(query.endDate)
      if (from > to) return yield* InvalidInput.of(fault(["startDate"], "startDate is after endDate. Swap them.", "out_of_bounds"))
      yield* checkAccount(principal, query.accountNumber)
      const most = { limit: maxPickedUp + 1, bytes: maxPickedUpBytes }
      const rows = yield* store.findPickedUp(principal.tenantId, { account: query.accountNumber, from, to, ...most, carrier: carrierOf(principal) })
      if (rows.length > maxPickedUp || rows.length > 1 && rows.reduce((sum, { length }) => sum + length, 0) >= maxPickedUpBytes) {
        const detail = `More than ${maxPickedUp} shipments, or ${maxPickedUpBytes / 1024 ** 2} MiB of them, were picked up in this range. Narrow it, and ask once for each part.`
        return yield* InvalidInput.of(fault(["endDate"], detail, "out_of_bounds"))
      }
      return rows.map((bytes) => new VerifiedBody(bytes))
    })

    const record = Effect.fn("ShipmentStatuses.record")(function*(principal: Principal, shipmentId: string) {
      yield* carriersOnly(principal)
      const found = storable.test(shipmentId) ? yield* store.record(principal.tenantId, shipmentId) : undefined
      if (found === undefined || !isOwn(carrierOf(principal), found.carrier)) return yield* new ShipmentNotFound({ key: `shipmentId ${shipmentId}`, advice: "Post the shipment first." })
      return {
        shipmentId,
        accounts: found.accounts,
        carrier: carrierNamed(found.carrier) ?? null,
        covered: found.covered,
        shipment: new VerifiedBody(found.verified),
        history: yield* mapPaced(found.history, ({ doc, position }): StatusHistory => {
          const { occurredAt, outcome, ...report } = JSON.parse(doc)
          return { position, occurredAt, outcome, report }
        })
      }
    })

    return ShipmentStatuses.of({ verified, public: publicly, pickedUp, record })
  }))
}

/** Whether the caller is a carrier with a number, which cannot find other carriers' shipments at all. */
const knowsOwnOnly = (principal: Principal | undefined): boolean => principal !== undefined && carrierOf(principal) !== undefined

/** The freight that the caller owns. */
const ownOf = (principal: Principal): StatusLookup["own"] => {
  const visibility = visibilityOf(principal)
  return visibility._tag === "All" ? "all" : visibility.grants
}

const isAccountNumber = Schema.is(AccountNumber)

const publicBodyOf = (verified: Uint8Array): PublicBody =>
  new PublicBody(encoder.encode(JSON.stringify(publicOf(JSON.parse(decoder.decode(verified))))))

const encoder = new TextEncoder()
const decoder = new TextDecoder()

const decodeQuery = decodeInput(PickedUpQuery, { closed: true })

/** Text that every store can hold. Other text cannot be a key. */
const storable = /^[^\p{Cc}\p{Cs}]{1,500}$/u

const usableKey = (by: LookupBy): string | undefined => {
  const key = keyOf(by)
  return key !== undefined && storable.test(key) ? key : undefined
}

const notFound = (by: LookupBy): ShipmentNotFound =>
  new ShipmentNotFound({
    key: described(by),
    advice: `Check the number${by.kind === "pro" ? "" : " and the postal code"}; a shipment is found once the carrier has picked it up.`
  })

const described = (by: LookupBy): string => {
  switch (by.kind) {
    case "pro":
      return `PRO ${by.proNumber}`
    case "bol":
      return `bill of lading ${by.bolNumber} from postal code ${by.originPostalCode}`
    case "po":
      return `purchase order ${by.poNumber} to postal code ${by.destinationPostalCode}`
  }
}

const firstInstant = (date: string): number => parseInstant(isDateOnly(date) ? `${date}T00:00:00Z` : date)!

const lastInstant = (date: string): number => parseInstant(isDateOnly(date) ? `${date}T23:59:59.999Z` : date)!
