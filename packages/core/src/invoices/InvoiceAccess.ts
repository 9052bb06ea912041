/** Access rules for reading and writing invoices. */
import { Effect, Schema } from "effect"
import { NotPermitted } from "../access/AccessErrors.ts"
import { AccessStore } from "../access/AccessStore.ts"
import { carrierNumber, grantOfNumber } from "../access/model/CarrierNumbers.ts"
import { carrierOf, isCarrier, isOperator, type Principal } from "../access/model/Principal.ts"
import { decodeInput, type InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StoragePort.ts"
import { InvoiceNotYours } from "./InvoiceErrors.ts"
import type { InvoiceCarrier, InvoiceViewer } from "./InvoiceStore.ts"
import { CarrierNumberText } from "./model/Invoice.ts"

/** A caller's normalised number. A number without letters and digits becomes `-`, which matches no invoice. */
const bound = (number: string | undefined): string | undefined => number === undefined ? undefined : carrierNumber(number) || "-"

/** What the caller may see of its tenant's invoices. Operators have no access. */
export const viewerOf = (principal: Principal): Effect.Effect<InvoiceViewer, NotPermitted> => {
  if (isOperator(principal)) return Effect.fail(new NotPermitted({ needed: "carrier or customer" }))
  if (!isCarrier(principal)) return Effect.succeed({ _tag: "Accounts", accounts: principal.accounts })
  const [dot, mc] = [bound(principal.dot), bound(principal.mc)]
  return Effect.succeed(dot === undefined && mc === undefined ? { _tag: "All" } : { _tag: "Carrier", dot, mc })
}

/** Like `viewerOf`, for callers that may write. */
export const writerOf = (principal: Principal): Effect.Effect<InvoiceViewer, NotPermitted> =>
  isCarrier(principal) ? viewerOf(principal) : Effect.fail(new NotPermitted({ needed: "carrier" }))

/** Whether an invoice's carrier matches a caller's numbers: at least one number is equal, and no number of the same kind differs. */
export const isOfCarrier = ({ dot, mc }: CarrierFilter, carrier: InvoiceCarrier): boolean =>
  (dot === carrier.dot || mc === carrier.mc) && (dot === undefined || carrier.dot === "" || dot === carrier.dot) &&
  (mc === undefined || carrier.mc === "" || mc === carrier.mc)

/** Fails unless the caller may write invoices of a carrier. */
export type CheckOwn = (principal: Principal, carrier: InvoiceCarrier) => Effect.Effect<void, InvoiceNotYours | NotPermitted | StorageError>

/**
 * A caller with DOT or MC numbers may write only invoices with these numbers. A number of the kind that its key does not name may be
 * any that is not known as another carrier's: its invoices would be read as the other carrier's, by a key with this number and by customers.
 */
export const makeCheckOwn: Effect.Effect<CheckOwn, never, AccessStore> = Effect.map(AccessStore, (access) =>
  Effect.fnUntraced(function*(principal, carrier) {
    const viewer = yield* writerOf(principal)
    if (viewer._tag !== "Carrier") return
    const numbers = [viewer.dot === undefined ? [] : `DOT ${viewer.dot}`, viewer.mc === undefined ? [] : `MC ${viewer.mc}`].flat().join(" and ")
    if (!isOfCarrier(viewer, carrier)) return yield* new InvoiceNotYours({ numbers })
    const kind = viewer.dot === undefined ? "dot" : "mc"
    const number = carrier[kind]
    if (viewer[kind] !== undefined || number === "") return
    const isOthers = yield* access.isOthersNumber(principal.tenantId, grantOfNumber(kind, number), carrierOf(principal) ?? [])
    if (isOthers) return yield* new InvoiceNotYours({ numbers, others: `${kind.toUpperCase()} ${number}` })
  }))

/** Names the carrier if several carriers use one id or invoice number. SPEC-GAP-B11 */
export const fromCarrier = { DOT: Schema.optionalKey(CarrierNumberText), MC: Schema.optionalKey(CarrierNumberText) }

/** The query members `DOT` and `MC`, which name one of several carriers. SPEC-GAP-B11 */
export const FromCarrier = Schema.Struct(fromCarrier)

const decodeFrom = decodeInput(FromCarrier, { closed: true })

/** Normalised numbers. */
export interface CarrierFilter {
  readonly dot: string | undefined
  readonly mc: string | undefined
}

/** The numbers of the query in the form in which they are compared. `undefined`: any carrier. */
export const carrierFilter = ({ DOT, MC }: typeof FromCarrier.Type): CarrierFilter => ({
  dot: DOT === undefined ? undefined : carrierNumber(DOT),
  mc: MC === undefined ? undefined : carrierNumber(MC)
})

/** Reads `DOT` and `MC` of a query. */
export const readFrom = (from: unknown): Effect.Effect<CarrierFilter, InvalidInput> => Effect.map(decodeFrom(from ?? {}), carrierFilter)

/** The carrier that a caller identifies completely by its own numbers and the requested ones. */
export const namedCarrier = (viewer: InvoiceViewer, filter: CarrierFilter): InvoiceCarrier | undefined => {
  const own = viewer._tag === "Carrier" ? viewer : { dot: undefined, mc: undefined }
  const [dot, mc] = [filter.dot ?? own.dot, filter.mc ?? own.mc]
  if (dot === undefined || mc === undefined || (viewer._tag === "Carrier" && !isOfCarrier(viewer, { dot, mc }))) return undefined
  return { dot, mc }
}
