/** Parses a carrier's input: an invoice, or the record of an upload. */
import { Effect } from "effect"
import { fault, inexactFault } from "../shared/Fault.ts"
import { carrierNumber } from "../access/model/CarrierNumbers.ts"
import { decodeInput, InvalidInput } from "../shared/InvalidInput.ts"
import { inexactNumber, isObject, maxDepth, nestsDeeperThan } from "../shared/Json.ts"
import { makePace } from "../shared/Turns.ts"
import type { InvoiceCarrier, InvoiceRow } from "./InvoiceStore.ts"
import { addresseeFault, addressees } from "./model/Addressees.ts"
import { Invoice, type InvoiceComment, InvoiceComments } from "./model/Invoice.ts"
import { totalWarnings } from "./model/InvoiceTotals.ts"
import { DocumentRequest } from "./model/SupportingDocuments.ts"

/** The largest invoice, in bytes of JSON. */
export const maxInvoiceBytes = 1024 * 1024

type Json = Readonly<Record<string, unknown>>

/** A posted invoice, checked. */
export interface ReadInvoice {
  readonly row: InvoiceRow
  /** The JSON that is returned. */
  readonly text: string
  /** The carrier's numbers as sent. */
  readonly members: { readonly DOT: string; readonly MC: string }
  readonly warnings: ReadonlyArray<string>
}

const decodeInvoice = decodeInput(Invoice)
const decodeRequest = decodeInput(DocumentRequest)
const decodeComments = decodeInput(InvoiceComments)
const encoder = new TextEncoder()

/**
 * Checks a posted invoice and creates the stored form. Fails with every fault. Pauses in large invoices, so that the process serves
 * other calls.
 */
export const readInvoice = Effect.fnUntraced(function*(input: unknown): Effect.fn.Return<ReadInvoice, InvalidInput> {
  const { json, text } = yield* plainJson(input, "An invoice")
  const pace = yield* makePace
  const invoice = yield* decodeInvoice(json)
  yield* refuseUnusableAccounts(json)
  const body = encoder.encode(text)
  if (pace.isDue()) yield* pace.turn
  if (body.length > maxInvoiceBytes) {
    return yield* InvalidInput.of(fault([], `An invoice has at most ${maxInvoiceBytes} bytes of JSON.`, "out_of_bounds"))
  }
  const row = {
    carrier: yield* carrierOf(invoice),
    uniqueId: invoice.uniqueID,
    shipmentId: invoice.shipmentID,
    invoiceNumber: invoice.invoiceHeader.invoiceNumber,
    accounts: addressees(json),
    body
  }
  return { row, text, members: { DOT: invoice.DOT, MC: invoice.MC }, warnings: totalWarnings(invoice) }
})

/** A posted record of documents, checked. */
export interface ReadDocuments {
  readonly request: DocumentRequest
  readonly carrier: InvoiceCarrier
  /** The record without its files, as JSON. */
  readonly doc: string
}

/** Checks a posted record of documents. Fails with every fault. */
export const readDocuments = Effect.fnUntraced(function*(input: unknown): Effect.fn.Return<ReadDocuments, InvalidInput> {
  const { json } = yield* plainJson(input, "A record of documents")
  const request = yield* decodeRequest(json)
  yield* refuseUnusableAccounts(json)
  const { documents: _, ...rest } = json
  const doc = JSON.stringify(rest)
  if (encoder.encode(doc).length > maxInvoiceBytes) {
    return yield* InvalidInput.of(fault([], `A record without its files has at most ${maxInvoiceBytes} bytes of JSON.`, "out_of_bounds"))
  }
  return { request, carrier: yield* carrierOf(request), doc }
})

/** One comment, or a list. */
export type Comments = typeof InvoiceComment.Encoded | typeof InvoiceComments.Encoded

/** Accepts one comment, a list, or none. */
export const readComments = (comments: unknown): Effect.Effect<ReadonlyArray<InvoiceComment>, InvalidInput> =>
  decodeComments(comments === undefined ? [] : isObject(comments) ? [comments] : comments, ["comments"])

const refuseUnusableAccounts = (json: Json): Effect.Effect<void, InvalidInput> => {
  const refusal = addresseeFault(json)
  return refusal === undefined ? Effect.void : Effect.fail(InvalidInput.of(refusal))
}

const carrierOf = ({ DOT, MC }: { readonly DOT: string; readonly MC: string }): Effect.Effect<InvoiceCarrier, InvalidInput> => {
  const carrier = { dot: carrierNumber(DOT), mc: carrierNumber(MC) }
  return carrier.dot === "" && carrier.mc === ""
    ? Effect.fail(InvalidInput.of(fault(["DOT"], "Name the carrier by its DOT or MC number; one of the two may be empty.", "required")))
    : Effect.succeed(carrier)
}

/** Converts a host's objects to their JSON, and checks that nothing is lost. */
const plainJson = Effect.fnUntraced(function*(
  input: unknown,
  what: string
): Effect.fn.Return<{ readonly json: Json; readonly text: string }, InvalidInput> {
  if (!isObject(input)) return yield* InvalidInput.of(fault([], `${what} is a JSON object.`))
  if (nestsDeeperThan(input, maxDepth)) {
    return yield* InvalidInput.of(fault([], `${what} nests at most ${maxDepth} levels deep.`, "out_of_bounds"))
  }
  const pace = yield* makePace
  // before serialisation, which would turn a non-finite number into null
  const inexact = inexactNumber(input)
  if (inexact !== undefined) return yield* InvalidInput.of(inexactFault(inexact))
  if (pace.isDue()) yield* pace.turn
  const noJson = InvalidInput.of(fault([], `${what} can contain JSON values only.`))
  const text = yield* Effect.try({ try: () => JSON.stringify(input) as unknown, catch: () => noJson })
  // an object's toJSON may return something other than an object
  if (typeof text !== "string" || !text.startsWith("{")) return yield* noJson
  if (pace.isDue()) yield* pace.turn
  return { json: JSON.parse(text) as Json, text }
})
