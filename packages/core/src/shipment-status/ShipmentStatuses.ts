/** Ask where a shipment is: by its PRO, a bill of lading, a purchase order, or an account and its pick-up dates. */
import { Context, Effect, Layer, Schema } from "effect"
import { NotPermitted } from "../access/AccessErrors.ts"
import { carrierNamed, type NamedCarrier } from "../access/model/CarrierNumbers.ts"
import { carrierOf, isCarrier, isOperator, isOwn, type Principal, visibilityOf } from "../access/model/Principal.ts"
import { fault } from "../shared/Fault.ts"
import { makeRequestBatcher } from "../shared/RequestBatcher.ts"
import { AccountNumber } from "../shared/Identifier.ts"
import { parseInstant } from "../shared/Instant.ts"
import { decodeInput, InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StorageError.ts"
import { traced } from "../shared/TraceContext.ts"
import { type LookupCaller, makeLookupLimiter } from "./LookupLimiter.ts"
import { DateOrInstant, isDateOnly } from "./model/FreightShapes.ts"
import { keyOf, type LookupBy } from "./model/LookupKey.ts"
import type { ReportOutcome } from "./model/StatusReport.ts"
import { PublicBody, publicOf, VerifiedBody } from "./model/VerifiedShipment.ts"
import { AccountNotFound, AccountNotPermitted, ShipmentNotFound, type TooManyLookups } from "./ShipmentStatusErrors.ts"
import { ShipmentStatusStore, type StatusLookup } from "./ShipmentStatusStore.ts"

/** What a verified lookup shows: everything of the caller's own freight, four fields of anybody else's. */
export type VerifiedAnswer =
  | { readonly _tag: "Verified"; readonly body: VerifiedBody }
  | { readonly _tag: "Public"; readonly body: PublicBody }

/** Most shipments of one answer by account. */
export const maxPickedUp = 5000

/** `startDate` and `endDate` bound the pick-up, both inclusive: dates (whole days in UTC) or date-times with offset. SPEC-GAP-A6 */
export const PickedUpQuery = Schema.Struct({
  accountNumber: Schema.String,
  startDate: DateOrInstant,
  endDate: DateOrInstant
}).annotate({ identifier: "PickedUpQuery" })
export type PickedUpQuery = typeof PickedUpQuery.Type

/** What one report made of a shipment. */
export interface StatusHistory {
  readonly position: number
  readonly occurredAt: string
  readonly outcome: ReportOutcome
  /** What it said, as it was understood. */
  readonly report: Readonly<Record<string, unknown>>
}

/** All that is known of one shipment, for the carrier itself. */
export interface ShipmentRecord {
  readonly shipmentId: string
  /** Who may see it. */
  readonly accounts: ReadonlyArray<string>
  /** Whose it is, where somebody said it: numbers without prefix, separators and leading zeros. */
  readonly carrier: NamedCarrier | null
  /** Whether lookups find it: its first milestone is known. */
  readonly covered: boolean
  /** The verified answer; without a milestone before it is covered. */
  readonly shipment: VerifiedBody
  readonly history: ReadonlyArray<StatusHistory>
}

type LookupFailure = ShipmentNotFound | TooManyLookups | StorageError

/** Single lookups are answered many at a time, outside of any transaction the caller may be in. */
export class ShipmentStatuses extends Context.Service<ShipmentStatuses, {
  /** One shipment, as much of it as the caller may see. Of several with the same numbers the caller's own comes first, then the newest. SPEC-GAP-A5 */
  readonly verified: (principal: Principal, by: LookupBy) => Effect.Effect<VerifiedAnswer, LookupFailure | NotPermitted>
  /**
   * One shipment as anybody may see it. `caller` is counted; with a `principal`, whose tenant is the caller's, its own freight
   * is not.
   */
  readonly public: (caller: LookupCaller, by: LookupBy, principal?: Principal) => Effect.Effect<PublicBody, LookupFailure>
  /** The shipments of an account that were picked up in a range, by pick-up; none is an empty list. */
  readonly pickedUp: (
    principal: Principal,
    query: unknown
  ) => Effect.Effect<
    ReadonlyArray<VerifiedBody>,
    AccountNotFound | AccountNotPermitted | TooManyLookups | InvalidInput | NotPermitted | StorageError
  >
  /** For carriers: a shipment with its accounts and everything that was reported of it. */
  readonly record: (principal: Principal, shipmentId: string) => Effect.Effect<ShipmentRecord, ShipmentNotFound | NotPermitted | StorageError>
}>()("@waybill/core/shipment-status/ShipmentStatuses") {
  static readonly layer = Layer.effect(
    ShipmentStatuses,
    Effect.gen(function*() {
      const store = yield* ShipmentStatusStore
      const find = yield* makeRequestBatcher(store.find)
      const allowance = yield* makeLookupLimiter

      const verified = Effect.fnUntraced(function*(principal: Principal, by: LookupBy) {
        if (isOperator(principal)) return yield* new NotPermitted({ needed: "carrier or customer" })
        const key = usableKey(by)
        const own = ownOf(principal)
        const found = key === undefined ? undefined : yield* find(principal.tenantId, { key, own })
        if (found?.own === true) return { _tag: "Verified" as const, body: new VerifiedBody(found.verified) }
        // paid the same for what is somebody else's and for what is not there: neither tells more than the other
        if (own !== "all") yield* allowance.pay(principal)
        if (found === undefined || knowsOwnOnly(principal)) return yield* notFound(by)
        return { _tag: "Public" as const, body: new PublicBody(found.public) }
      }, traced("ShipmentStatuses.verified"))

      const publicly = Effect.fnUntraced(function*(caller: LookupCaller, by: LookupBy, principal?: Principal) {
        const own = principal === undefined ? [] : ownOf(principal)
        // before anything is read, where nothing can be the caller's own
        if (own.length === 0) yield* allowance.pay(caller)
        const key = usableKey(by)
        const found = key === undefined ? undefined : yield* find(caller.tenantId, { key, own })
        if (found?.own === true) return publicBodyOf(found.verified)
        if (own !== "all" && own.length > 0) yield* allowance.pay(caller)
        if (found === undefined || knowsOwnOnly(principal)) return yield* notFound(by)
        return new PublicBody(found.public)
      }, traced("ShipmentStatuses.public"))

      /** What cannot be stored is nobody's. */
      const accountKnown = (principal: Principal, accountNumber: string) =>
        isAccountNumber(accountNumber) ? store.accountKnown(principal.tenantId, accountNumber, carrierOf(principal)) : Effect.succeed(false)

      /** Whether the caller may list this account at all. */
      const checkAccount = Effect.fnUntraced(function*(principal: Principal, accountNumber: string) {
        if (isCarrier(principal)) {
          if (!(yield* accountKnown(principal, accountNumber))) return yield* new AccountNotFound({ accountNumber })
          return
        }
        if (principal.accounts.includes(accountNumber)) return
        yield* allowance.pay(principal)
        return yield* (yield* accountKnown(principal, accountNumber))
          ? new AccountNotPermitted({ accountNumber })
          : new AccountNotFound({ accountNumber })
      })

      const pickedUp = Effect.fn("ShipmentStatuses.pickedUp")(function*(principal: Principal, input: unknown) {
        if (isOperator(principal)) return yield* new NotPermitted({ needed: "carrier or customer" })
        const query = yield* decodeQuery(input)
        const from = firstInstant(query.startDate)
        const to = lastInstant(query.endDate)
        if (from > to) return yield* InvalidInput.of(fault(["startDate"], "startDate is after endDate. Swap them.", "out_of_bounds"))
        yield* checkAccount(principal, query.accountNumber)
        const rows = yield* store.findPickedUp(principal.tenantId, { account: query.accountNumber, from, to, limit: maxPickedUp + 1, carrier: carrierOf(principal) })
        if (rows.length > maxPickedUp) {
          const detail = `More than ${maxPickedUp} shipments were picked up in this range. Narrow it, and ask once for each part.`
          return yield* InvalidInput.of(fault(["endDate"], detail, "out_of_bounds"))
        }
        return rows.map((bytes) => new VerifiedBody(bytes))
      })

      const record = Effect.fn("ShipmentStatuses.record")(function*(principal: Principal, shipmentId: string) {
        if (!isCarrier(principal)) return yield* new NotPermitted({ needed: "carrier" })
        const found = storable.test(shipmentId) ? yield* store.record(principal.tenantId, shipmentId) : undefined
        if (found === undefined || !isOwn(carrierOf(principal), found.carrier)) return yield* new ShipmentNotFound({ sought: `shipmentId ${shipmentId}`, advice: "Hand it in as a shipment first." })
        return {
          shipmentId,
          accounts: found.accounts,
          carrier: carrierNamed(found.carrier) ?? null,
          covered: found.covered,
          shipment: new VerifiedBody(found.verified),
          history: found.history.map(({ doc, position }): StatusHistory => {
            const { occurredAt, outcome, ...report } = JSON.parse(doc)
            return { position, occurredAt, outcome, report }
          })
        }
      })

      return ShipmentStatuses.of({ verified, public: publicly, pickedUp, record })
    })
  )
}

/** Whether what is not the caller's own is unknown to it: to a carrier with a number, others' shipments are. */
const knowsOwnOnly = (principal: Principal | undefined): boolean => principal !== undefined && carrierOf(principal) !== undefined

/** Whose freight is the caller's own. */
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

/** Text that no store chokes on; nothing else can be anybody's number. */
const storable = /^[^\p{Cc}\p{Cs}]{1,500}$/u

const usableKey = (by: LookupBy): string | undefined => {
  const key = keyOf(by)
  return key !== undefined && storable.test(key) ? key : undefined
}

const notFound = (by: LookupBy): ShipmentNotFound =>
  new ShipmentNotFound({
    sought: described(by),
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
