/** Uploads, lists, retrieves and deletes the supporting documents of invoices. Contents are streamed and never logged. */
import { Clock, Context, Effect, Layer, Schema, type Scope, Stream } from "effect"
import { Hex } from "effect/encoding"
import type { NotPermitted, QuotaExceeded } from "../access/AccessErrors.ts"
import { carriersOnly } from "../access/Callers.ts"
import type { Principal } from "../access/model/Principal.ts"
import { TenantLimits } from "../access/TenantLimits.ts"
import { decodeInput, type InvalidInput } from "../shared/InvalidInput.ts"
import { listPage } from "../shared/ListPage.ts"
import { StorageError, Transaction } from "../shared/StoragePort.ts"
import { mapPaced } from "../shared/Turns.ts"
import { UniqueIds } from "../shared/UniqueIds.ts"
import { ContentHash } from "./ContentHash.ts"
import { findAgain } from "./CorrectedCarrier.ts"
import { recordId } from "./DocumentAccess.ts"
import { DocumentContents } from "./DocumentContents.ts"
import { type DocumentFile, type DocumentRecord, DocumentStore } from "./DocumentStore.ts"
import { beginUpload, bytesOf, type DocumentUpload, shownFile, type UploadAnswer } from "./DocumentUpload.ts"
import { carrierFilter, type CarrierFilter, type FromCarrier, fromCarrier, makeCheckOwn, namedCarrier, readFrom, viewerOf, writerOf } from "./InvoiceAccess.ts"
import { DocumentNotFound, type FileFormatUnknown, type FileTooLarge, type InvoiceNotYours } from "./InvoiceErrors.ts"
import { type InvoiceCarrier, InvoiceStore, type InvoiceViewer } from "./InvoiceStore.ts"
import { ambiguous, readChanges } from "./Invoices.ts"
import { cursorAt, readCursor } from "./ListCursor.ts"
import { CarrierNumberText, type InvoiceComment, InvoiceNumber } from "./model/Invoice.ts"
import { type DocumentsUpload, DocumentType } from "./model/SupportingDocuments.ts"
import { type Comments, readComments } from "./ReadInvoice.ts"
import { uploadWhole } from "./UploadWhole.ts"

/** Most records per page. The page ends early if they are large. SPEC-GAP-B14 */
export const maxRecordsPerPage = 100

/** Characters of JSON that a file adds to its record, besides its contents. */
const fileSize = 100

/** Maximum number of files whose contents are checked before a response begins. */
const mostCheckedContents = 100

const contentMissing = (contentId: string) =>
  new StorageError({
    operation: "DocumentContents.read",
    cause: `Content ${contentId} is not in the document store of this process. Every process needs the same one (WAYBILL_DOCUMENTS); WAYBILL_DOCUMENTS_ALSO names the one of older documents.`
  })

/** A page of documents (area B). All filters must match; `limit` and `cursor` are additions. SPEC-GAP-B14 */
export const DocumentQuery = Schema.Struct({
  invoiceNumber: Schema.optionalKey(InvoiceNumber),
  DOT: Schema.optionalKey(CarrierNumberText),
  MC: Schema.optionalKey(CarrierNumberText),
  documentType: Schema.optionalKey(Schema.Array(DocumentType).check(
    Schema.isMinLength(1, { message: "Name at least one document type, or leave documentType out." }),
    Schema.isMaxLength(100, { message: "At most 100 document types." })
  )),
  limit: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxRecordsPerPage }, { message: `limit is an integer from 1 to ${maxRecordsPerPage}.` }))
  ),
  cursor: Schema.optionalKey(Schema.String)
})

const RemoveOptions = Schema.Struct({
  ...fromCarrier,
  fileIds: Schema.optionalKey(Schema.Array(Schema.String).check(Schema.isMaxLength(1000, { message: "At most 1000 fileIds." }))),
  comments: Schema.optionalKey(Schema.Unknown)
})

/** A stored file. */
export interface StoredFile {
  readonly id: string
  readonly size: number
  /** Hexadecimal. */
  readonly sha256: string
  readonly mediaType: string
  /** Streams the bytes on demand. Fails if they differ from what was uploaded. */
  readonly content: Stream.Stream<Uint8Array, StorageError>
}

/** The documents of one invoice number of one carrier. */
export interface StoredDocuments {
  /** Every member except `documents`, from the latest upload. */
  readonly record: Readonly<Record<string, unknown>>
  /** By type, in upload order. */
  readonly documents: ReadonlyArray<{ readonly documentType: string; readonly files: ReadonlyArray<StoredFile> }>
}

/** A page of records. `nextCursor` is `undefined` on the last page. */
export interface DocumentsPage {
  readonly data: ReadonlyArray<StoredDocuments>
  readonly nextCursor: string | undefined
}

/** A change to the documents of an invoice number. */
export interface DocumentChange {
  readonly at: string
  readonly client: string
  readonly action: "documents added" | "documents deleted"
  readonly comments: ReadonlyArray<InvoiceComment>
  readonly files: ReadonlyArray<ReturnType<typeof shownFile>>
}

type Failure = InvalidInput | NotPermitted | StorageError

/** Supporting documents of invoices (area B): upload, list, retrieve, delete. */
export class InvoiceDocuments extends Context.Service<InvoiceDocuments, {
  /** For transports: starts an upload whose files arrive in chunks. An unfinished upload is deleted when the scope ends. */
  readonly begin: (principal: Principal) => Effect.Effect<DocumentUpload, NotPermitted | QuotaExceeded | StorageError, Scope.Scope>
  /** Uploads files that are in memory, each as base64 text or bytes. */
  readonly upload: (
    principal: Principal,
    input: DocumentsUpload
  ) => Effect.Effect<UploadAnswer, FileTooLarge | FileFormatUnknown | InvoiceNotYours | QuotaExceeded | Failure>
  /** Lists in the order of invoice number and carrier. All filters must match. */
  readonly list: (principal: Principal, query?: typeof DocumentQuery.Encoded) => Effect.Effect<DocumentsPage, Failure>
  /** `from` (`DOT`, `MC`) names the carrier if several use one number. */
  readonly get: (principal: Principal, invoiceNumber: string, from?: typeof FromCarrier.Encoded) => Effect.Effect<StoredDocuments, DocumentNotFound | Failure>
  /** `options`: `fileIds` (all if left out), `comments`, and `DOT`, `MC` as in `get`. Deletes all named files or none. */
  readonly remove: (
    principal: Principal,
    invoiceNumber: string,
    options?: typeof FromCarrier.Encoded & { readonly fileIds?: ReadonlyArray<string>; readonly comments?: Comments }
  ) => Effect.Effect<{ readonly message: string }, DocumentNotFound | Failure>
  /** For carriers: the changes, oldest first, without what is older than `maxHistoryBytes` of them. After all documents are deleted, `from` must have DOT and MC. */
  readonly history: (
    principal: Principal,
    invoiceNumber: string,
    from?: typeof FromCarrier.Encoded
  ) => Effect.Effect<ReadonlyArray<DocumentChange>, DocumentNotFound | Failure>
}>()("@waybill/core/invoices/InvoiceDocuments") {
  static readonly layer = Layer.effect(InvoiceDocuments, Effect.gen(function*() {
    const invoices = yield* InvoiceStore
    const documents = yield* DocumentStore
    const contents = yield* DocumentContents
    const transaction = yield* Transaction
    const limits = yield* TenantLimits
    const hash = yield* ContentHash
    const ids = yield* UniqueIds
    const checkOwn = yield* makeCheckOwn
    const decodeQuery = decodeInput(DocumentQuery, { closed: true })
    const decodeRemoval = decodeInput(RemoveOptions, { closed: true })

    const begin = Effect.fn("InvoiceDocuments.begin")(function*(principal: Principal) {
      yield* writerOf(principal)
      return yield* beginUpload({ invoices, documents, contents, transaction, hash, ids, checkOwn }, principal, yield* limits.of(principal.tenantId))
    })

    const upload = Effect.fn("InvoiceDocuments.upload")((principal: Principal, input: unknown) =>
      Effect.scoped(Effect.flatMap(begin(principal), (begun) => uploadWhole(begun, input))))

    const contentOf = (tenantId: string, { contentId, sha256 }: DocumentFile): StoredFile["content"] =>
      Stream.suspend(() => {
        const running = hash.sha256()
        return Stream.unfold(0, Effect.fnUntraced(function*(chunk) {
          const bytes = yield* contents.read(tenantId, contentId, chunk)
          if (bytes === undefined) {
            if (Hex.encode(running.digest()) === sha256) return undefined
            return yield* new StorageError({ operation: "DocumentContents.read", cause: `Content ${contentId} is not what was uploaded.` })
          }
          running.update(bytes)
          return [bytes, chunk + 1] as const
        }))
      })

    /**
     * The response begins with its status, so missing contents must be detected before: those of a process with another
     * store, or of a backup without its files. Of many files only the first ones are checked.
     */
    const checkContents = (tenantId: string, records: ReadonlyArray<DocumentRecord>) =>
      Effect.forEach(
        records.flatMap(({ files }) => files).slice(0, mostCheckedContents),
        ({ contentId }) =>
          Effect.flatMap(contents.read(tenantId, contentId, 0), (first) => first === undefined ? Effect.fail(contentMissing(contentId)) : Effect.void),
        { concurrency: 4, discard: true }
      )

    const shown = (tenantId: string, { doc, files }: DocumentRecord): StoredDocuments => {
      const types = [...new Set(files.map((each) => each.documentType))]
      const stored = (file: DocumentFile): StoredFile => {
        const { fileId: id, mediaType, sha256, size } = file
        return { id, size, sha256, mediaType, content: contentOf(tenantId, file) }
      }
      return {
        record: JSON.parse(doc),
        documents: types.map((documentType) => ({
          documentType,
          files: files.filter((each) => each.documentType === documentType).map(stored)
        }))
      }
    }

    /** Finds records of this number that the viewer may see, at most two, which is enough to find out whether it is ambiguous. */
    const named = (tenantId: string, viewer: InvoiceViewer, invoiceNumber: string, filter: CarrierFilter) =>
      isInvoiceNumber(invoiceNumber)
        ? documents.list(tenantId, viewer, { invoiceNumber, documentTypes: undefined, ...filter }, { after: undefined, limit: 2 })
        : Effect.succeed([])

    const get = Effect.fn("InvoiceDocuments.get")(function*(principal: Principal, invoiceNumber: string, from?: unknown) {
      const viewer = yield* viewerOf(principal)
      const filter = yield* readFrom(from)
      if (!isInvoiceNumber(invoiceNumber)) return yield* new DocumentNotFound({ invoiceNumber })
      const found = filter.dot === undefined && filter.mc === undefined
        ? yield* documents.find(principal.tenantId, viewer, invoiceNumber)
        : (yield* named(principal.tenantId, viewer, invoiceNumber, filter))[0]
      if (found === undefined) return yield* new DocumentNotFound({ invoiceNumber })
      yield* checkContents(principal.tenantId, [found])
      return shown(principal.tenantId, found)
    })

    const list = Effect.fn("InvoiceDocuments.list")(function*(principal: Principal, input: unknown = {}) {
      const viewer = yield* viewerOf(principal)
      const { cursor, documentType: documentTypes, invoiceNumber, limit = maxRecordsPerPage, ...from } = yield* decodeQuery(input)
      const filter = { invoiceNumber, documentTypes, ...carrierFilter(from) }
      const { data, nextCursor } = yield* listPage({
        read: ({ after, limit: rows }) =>
          Effect.flatMap(readCursor(after), (position) =>
            documents.list(principal.tenantId, viewer, filter, { after: position && { invoiceNumber: position.id, carrier: position.carrier }, limit: rows })),
        idOf: (record) => cursorAt({ id: record.invoiceNumber, carrier: record.carrier }),
        sizeOf: ({ doc, files }) => doc.length + files.length * fileSize,
        shown: (record) => record
      }, cursor, limit)
      yield* checkContents(principal.tenantId, data)
      return { data: yield* mapPaced(data, (record) => shown(principal.tenantId, record)), nextCursor: nextCursor ?? undefined }
    })

    /** Runs in a transaction. Returns the number of deleted files. */
    const erase = Effect.fnUntraced(function*(
      { client, tenantId }: Principal,
      carrier: InvoiceCarrier,
      invoiceNumber: string,
      fileIds: ReadonlyArray<string> | undefined,
      comments: ReadonlyArray<InvoiceComment>
    ) {
      yield* invoices.lock(tenantId, carrier, recordId(invoiceNumber))
      const files = yield* documents.remove(tenantId, carrier, invoiceNumber, fileIds)
      if (files.length === 0) return yield* new DocumentNotFound({ invoiceNumber })
      yield* invoices.record(tenantId, carrier, recordId(invoiceNumber), {
        at: yield* Clock.currentTimeMillis,
        client,
        action: "documents deleted",
        doc: JSON.stringify({ comments, files: files.map(shownFile) })
      })
      // after all other checks, because contents outside the database cannot be rolled back
      yield* contents.remove(tenantId, files.map((each) => each.contentId))
      yield* documents.changeStoredBytes(tenantId, -bytesOf(files))
      return files.length
    })

    const remove = Effect.fn("InvoiceDocuments.remove")(function*(principal: Principal, invoiceNumber: string, options?: unknown) {
      const viewer = yield* writerOf(principal)
      const { comments, fileIds, ...from } = yield* decodeRemoval(options ?? {})
      const commentList = yield* readComments(comments)
      // an empty list deletes nothing: only a missing `fileIds` means all files
      if (fileIds !== undefined && !fileIds.every((fileId) => isInvoiceNumber(fileId))) return yield* new DocumentNotFound({ invoiceNumber })
      const removed = yield* findAgain(Effect.gen(function*() {
        const [found, other] = yield* named(principal.tenantId, viewer, invoiceNumber, carrierFilter(from))
        if (found === undefined) return yield* new DocumentNotFound({ invoiceNumber })
        if (other !== undefined) return yield* ambiguous("invoiceNumber", "invoice of this number")
        return yield* transaction.run(erase(principal, found.carrier, invoiceNumber, fileIds, commentList))
      }))
      return { message: `${removed} ${removed === 1 ? "file was" : "files were"} deleted from invoice number ${invoiceNumber}.` }
    })

    const history = Effect.fn("InvoiceDocuments.history")(function*(principal: Principal, invoiceNumber: string, from?: unknown) {
      yield* carriersOnly(principal)
      const viewer = yield* viewerOf(principal)
      const filter = yield* readFrom(from)
      const carrier = namedCarrier(viewer, filter) ?? (yield* named(principal.tenantId, viewer, invoiceNumber, filter))[0]?.carrier
      if (carrier === undefined || !isInvoiceNumber(invoiceNumber)) return yield* new DocumentNotFound({ invoiceNumber })
      const entries = yield* invoices.history(principal.tenantId, carrier, recordId(invoiceNumber))
      const changes = yield* readChanges<DocumentChange>(entries)
      if (changes.length === 0) return yield* new DocumentNotFound({ invoiceNumber })
      return changes
    })

    return InvoiceDocuments.of({ begin, upload, list, get, remove, history })
  }))
}

/** Whether a text can be an invoice number or a file id. Other text never reaches a store. */
const isInvoiceNumber = Schema.is(InvoiceNumber)
