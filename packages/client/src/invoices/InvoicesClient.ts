/** Client for invoices (area B). */
import { callKinds, type CallOptions, Connection, type ConnectionOptions, type Query } from "../connection/Connection.ts"
import { allPages } from "../connection/CursorPages.ts"
import { WaybillCallFailed } from "../connection/WaybillProblem.ts"
import { checkOptions, type OptionKinds, optionKinds } from "../shared/CheckOptions.ts"
import { isObject } from "../shared/ReceivedJson.ts"
import { type CursorPage, nextCursorOf } from "./Cursor.ts"
import type { CarrierNumbers, Invoice, InvoiceComment } from "./Invoice.ts"
import { messageOf, warningOf } from "./WrittenAnswer.ts"

/** All given conditions must match. */
export interface InvoiceQuery extends CarrierNumbers {
  readonly uniqueID?: string | undefined
  readonly shipmentID?: string | undefined
  readonly invoiceNumber?: string | undefined
  /** Maximum invoices per page: 1 to 1,000. The server's default is 1,000. */
  readonly limit?: number | undefined
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined
}

/** Ordered by uniqueID. */
export type InvoicesPage = CursorPage<Invoice>

/** Answer to a new or replaced invoice. */
export interface InvoiceWritten {
  readonly message: string
  /** Possible errors in the accepted invoice, such as lines that do not add up, or several currencies. */
  readonly warning?: string
}

/** An invoice as it is stored. */
export interface FoundInvoice {
  readonly invoice: Invoice
  /** Same as in `InvoiceWritten`. */
  readonly warning?: string
}

/** Why an invoice is replaced. */
export interface ReplaceInvoiceOptions extends CallOptions {
  /** The reason; kept in the history. */
  readonly comments?: ReadonlyArray<InvoiceComment> | undefined
}

/** Which carrier's invoice to remove, and why. */
export interface RemoveInvoiceOptions extends CallOptions {
  /** The reason; kept in the history. */
  readonly comment?: InvoiceComment | undefined
  readonly carrier?: CarrierNumbers | undefined
}

/** `carrier` chooses one carrier where several use the same uniqueID. */
export interface GetInvoiceOptions extends CallOptions {
  readonly carrier?: CarrierNumbers | undefined
}

const { list, object, text } = optionKinds
const getKinds: OptionKinds<GetInvoiceOptions> = { ...callKinds, carrier: object }
const replaceKinds: OptionKinds<ReplaceInvoiceOptions> = { ...callKinds, comments: list }
const removeKinds: OptionKinds<RemoveInvoiceOptions> = { ...getKinds, comment: object }

const invoices = ["invoices"]

/** Invoices (area B): create, list, get, replace and remove. Calls reject with `WaybillProblem` when the server refuses, and with `WaybillCallFailed` when there is no usable answer. */
export class InvoicesClient {
  readonly #connection: Connection

  /** `basePath` is `/invoicing` by default. */
  constructor(options: ConnectionOptions) {
    this.#connection = new Connection(options, "/invoicing")
  }

  /** Idempotent: the same invoice again gets the same response. Other content under its id is refused. */
  async create(invoice: Invoice, options?: CallOptions): Promise<InvoiceWritten> {
    const answer = await this.#connection.send({ method: "POST", path: invoices, body: invoice, repeatable: true }, options)
    return { message: messageOf(answer), ...warningOf(answer) }
  }

  /** One page of the invoices that you have access to. */
  async list(query: InvoiceQuery = {}, options?: CallOptions): Promise<InvoicesPage> {
    const answer = await this.#connection.send({ method: "GET", path: invoices, query: query as Query, repeatable: true }, options)
    if (!Array.isArray(answer.json)) throw new WaybillCallFailed(answer.call, "unreadable_answer", "the answer is not a list of invoices.")
    return { data: answer.json as ReadonlyArray<Invoice>, nextCursor: nextCursorOf(answer, query.cursor) }
  }

  /** Iterates over every match, page by page. */
  all(query: Omit<InvoiceQuery, "cursor"> = {}, options?: CallOptions): AsyncGenerator<Invoice, void, undefined> {
    return allPages((cursor) => this.list({ ...query, cursor }, options))
  }

  async get(uniqueID: string, options: GetInvoiceOptions = {}): Promise<FoundInvoice> {
    checkOptions("get", options, getKinds)
    const { carrier, ...rest } = options
    const path = [...invoices, uniqueID]
    const answer = await this.#connection.send({ method: "GET", path, query: numbersOf(carrier), repeatable: true }, rest)
    if (!isObject(answer.json)) throw new WaybillCallFailed(answer.call, "unreadable_answer", "the answer is not an invoice.")
    return { invoice: answer.json as unknown as Invoice, ...warningOf(answer) }
  }

  /** Replaces the whole invoice under its id. Never retried, because another client may have replaced it meanwhile. */
  async replace(invoice: Invoice, options: ReplaceInvoiceOptions = {}): Promise<InvoiceWritten> {
    checkOptions("replace", options, replaceKinds)
    const { comments = [], ...rest } = options
    const query = { comments: comments.length === 0 ? undefined : JSON.stringify(comments) }
    const path = [...invoices, invoice.uniqueID]
    const answer = await this.#connection.send({ method: "PUT", path, query, body: invoice, repeatable: false }, rest)
    return { message: messageOf(answer), ...warningOf(answer) }
  }

  /** If several of your carriers have an invoice with this id, give the carrier. */
  async remove(uniqueID: string, options: RemoveInvoiceOptions = {}): Promise<void> {
    checkOptions("remove", options, removeKinds)
    const { carrier, comment, ...rest } = options
    const query = { ...numbersOf(carrier), comments: comment && JSON.stringify(comment) }
    await this.#connection.send({ method: "DELETE", path: [...invoices, uniqueID], query, repeatable: true }, rest)
  }
}

export const numbersOf = (carrier: CarrierNumbers = {}): Query => {
  checkOptions("carrier", carrier, { DOT: text, MC: text } satisfies OptionKinds<CarrierNumbers>)
  return { DOT: carrier.DOT, MC: carrier.MC }
}
