/** Client for supporting documents of invoices (area B). Files are streamed: `timeoutMillis` starts again with each chunk. */
import { type Call, callKinds, type CallOptions, Connection, type ConnectionOptions, type OpenAnswer, type Query } from "../connection/Connection.ts"
import { canStreamRequests } from "../connection/SentPieces.ts"
import { WaybillCallFailed } from "../connection/WaybillProblem.ts"
import { checkOptions, type OptionKinds, optionKinds } from "../shared/CheckOptions.ts"
import type { OpenList } from "../shared/OpenList.ts"
import { handedTo, recordsIn, withContents } from "./ArrivingDocuments.ts"
import { type CursorPage, nextCursorOf } from "./Cursor.ts"
import type { CarrierNumbers } from "./Invoice.ts"
import { numbersOf, type RemoveInvoiceOptions } from "./InvoicesClient.ts"
import { checkFiles, sentDocuments } from "./SentDocuments.ts"
import type { DocumentsRecord, DocumentUpload, FileTaker, SupportingDocuments, SupportingDocumentType } from "./SupportingDocuments.ts"
import { messageOf } from "./WrittenAnswer.ts"

/** All given conditions must match. */
export interface DocumentQuery extends CarrierNumbers {
  readonly invoiceNumber?: string | undefined
  /** Only files of these types. */
  readonly documentType?: ReadonlyArray<OpenList<SupportingDocumentType>> | undefined
  /** Maximum records per page: 1 to 100. The server's default is 100. */
  readonly limit?: number | undefined
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined
}

/** Ordered by invoice number. */
export type DocumentsPage = CursorPage<SupportingDocuments>

/** Answer to an upload. */
export interface DocumentsUploaded {
  readonly message: string
  /** Ids of the new files, in upload order; empty when the server does not return them. */
  readonly fileIds: ReadonlyArray<string>
}

/** `carrier` chooses one carrier where several use the same invoice number. */
export interface GetDocumentsOptions extends CallOptions {
  readonly carrier?: CarrierNumbers | undefined
}

/** Which files to remove, and why. */
export interface RemoveDocumentsOptions extends RemoveInvoiceOptions {
  /** Files to remove; at least one. Default: all files of the invoice number. */
  readonly fileIds?: ReadonlyArray<string> | undefined
}

/** Connection to area B. */
export interface DocumentsClientOptions extends ConnectionOptions {
  /** Whether `fetch` gets uploads as a stream. Default: true outside of browsers; in browsers it gets a `Blob`. */
  readonly streamUploads?: boolean | undefined
}

type ReadRecords<Record> = Parameters<typeof recordsIn<Record>>[2]

const getKinds: OptionKinds<GetDocumentsOptions> = { ...callKinds, carrier: optionKinds.object }
const removeKinds: OptionKinds<RemoveDocumentsOptions> = { ...getKinds, fileIds: optionKinds.list, comment: optionKinds.object }

const documents = ["documents"]

/** Supporting documents of invoices (area B): upload, read, download and remove. Calls reject with `WaybillProblem` when the server refuses, and with `WaybillCallFailed` when there is no usable answer. */
export class DocumentsClient {
  readonly #connection: Connection
  readonly #streamed: boolean

  /** `basePath` is `/invoicing` by default. */
  constructor(options: DocumentsClientOptions) {
    this.#connection = new Connection(options, "/invoicing")
    this.#streamed = options.streamUploads ?? canStreamRequests()
  }

  /**
   * Adds files to the invoice number: all of them, or none. Never retried, because each call adds the files. After a
   * lost response, get the documents before you upload again.
   */
  async upload(upload: DocumentUpload, options?: CallOptions): Promise<DocumentsUploaded> {
    checkFiles(upload)
    const pieces = { make: () => sentDocuments(upload), streamed: this.#streamed }
    const answer = await this.#connection.send({ method: "POST", path: documents, pieces, repeatable: false }, options)
    const fileIds = (answer.headers.get("x-waybill-file-ids") ?? "").split(",").map((id) => id.trim()).filter((id) => id !== "")
    return { message: messageOf(answer), fileIds }
  }

  /** One page of the documents that you have access to, with all their contents in memory. */
  list(query: DocumentQuery = {}, options?: CallOptions): Promise<DocumentsPage> {
    return this.#connection.receive(listing(query), async (answer) => ({
      data: await collected(recordsIn(answer, "list", withContents)),
      nextCursor: nextCursorOf(answer, query.cursor)
    }), options)
  }

  /** Iterates over every match, page by page, with the contents of one record in memory at a time. */
  all(query: Omit<DocumentQuery, "cursor"> = {}, options?: CallOptions): AsyncGenerator<SupportingDocuments, void, undefined> {
    return this.#pages(query, withContents, options)
  }

  /** Like `all`, but passes each file to a function as it arrives, and keeps none in memory. */
  downloadAll(
    query: Omit<DocumentQuery, "cursor">,
    take: FileTaker,
    options?: CallOptions
  ): AsyncGenerator<DocumentsRecord, void, undefined> {
    return this.#pages(query, handedTo(take), options)
  }

  /** The documents of an invoice number, with their contents in memory. */
  async get(invoiceNumber: string, options: GetDocumentsOptions = {}): Promise<SupportingDocuments> {
    checkOptions("get", options, getKinds)
    const { carrier, ...rest } = options
    return await this.#connection.receive(getting(invoiceNumber, carrier), (answer) => only(answer, withContents), rest)
  }

  /**
   * Like `get`, but passes each file to a function as it arrives, and keeps none in memory. Not retried when the
   * response breaks off, because some files may have been processed.
   */
  async download(invoiceNumber: string, take: FileTaker, options: GetDocumentsOptions = {}): Promise<DocumentsRecord> {
    checkOptions("download", options, getKinds)
    const { carrier, ...rest } = options
    const answer = await this.#connection.open(getting(invoiceNumber, carrier), rest)
    try {
      return await only(answer, handedTo(take))
    } finally {
      answer.close()
    }
  }

  /** Removes all named files, or none. Without `fileIds` it is never retried, because files may have been added meanwhile. */
  async remove(invoiceNumber: string, options: RemoveDocumentsOptions = {}): Promise<void> {
    checkOptions("remove", options, removeKinds)
    const { carrier, comment, fileIds, ...rest } = options
    // An empty list would leave no trace in the query, where no ids mean all files.
    if (fileIds?.length === 0) throw new TypeError("fileIds names at least one file. Leave it out to remove all of them.")
    const query = { fileIds, ...numbersOf(carrier), comments: comment && JSON.stringify(comment) }
    const path = [...documents, invoiceNumber]
    await this.#connection.send({ method: "DELETE", path, query, repeatable: fileIds !== undefined }, rest)
  }

  async *#pages<Record>(
    query: Omit<DocumentQuery, "cursor">,
    read: ReadRecords<Record>,
    options: CallOptions | undefined
  ): AsyncGenerator<Record, void, undefined> {
    let cursor: string | undefined
    do {
      const answer: OpenAnswer = await this.#connection.open(listing({ ...query, cursor }), options)
      try {
        yield* recordsIn(answer, "list", read)
        cursor = nextCursorOf(answer, cursor)
      } finally {
        answer.close()
      }
    } while (cursor !== undefined)
  }
}

const listing = (query: DocumentQuery): Call => ({ method: "GET", path: documents, query: query as Query, repeatable: true })

const getting = (invoiceNumber: string, carrier: CarrierNumbers | undefined): Call =>
  ({ method: "GET", path: [...documents, invoiceNumber], query: numbersOf(carrier), repeatable: true })

const only = async <Record>(answer: OpenAnswer, read: ReadRecords<Record>): Promise<Record> => {
  const [record] = await collected(recordsIn(answer, "record", read))
  if (record !== undefined) return record
  throw new WaybillCallFailed(answer.call, "unreadable_answer", "the answer has no documents.")
}

const collected = async <A>(items: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const all: Array<A> = []
  for await (const item of items) all.push(item)
  return all
}
