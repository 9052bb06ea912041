/** One upload in progress. Files are written in chunks; an upload that is not finished leaves nothing behind. */
import { Bytes, Clock, Effect, Scope } from "effect"
import { Hex } from "effect/encoding"
import { type NotPermitted, QuotaExceeded } from "../access/AccessErrors.ts"
import type { Limits } from "../access/model/Limits.ts"
import type { Principal } from "../access/model/Principal.ts"
import { fault } from "../shared/Fault.ts"
import { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError, Transaction } from "../shared/StoragePort.ts"
import type { UniqueIds } from "../shared/UniqueIds.ts"
import type { ContentHash } from "./ContentHash.ts"
import { documentAccounts, type InvoiceStores, recordId } from "./DocumentAccess.ts"
import type { DocumentContents } from "./DocumentContents.ts"
import type { DocumentFile } from "./DocumentStore.ts"
import type { CheckOwn } from "./InvoiceAccess.ts"
import { FileFormatUnknown, FileTooLarge, type InvoiceNotYours } from "./InvoiceErrors.ts"
import { type FileFormat, formatOf, maxFileBytes, maxFilesPerUpload } from "./model/FileFormat.ts"
import { readDocuments, type ReadDocuments } from "./ReadInvoice.ts"

/** One file in progress. */
export interface FileWriter {
  /** Identifies the file in the input of `finish`. */
  readonly fileId: string
  /** Writes decoded bytes in order, in chunks of any length. Fails as soon as the file is known to be invalid. */
  readonly write: (chunk: Uint8Array) => Effect.Effect<void, FileTooLarge | FileFormatUnknown | QuotaExceeded | StorageError>
  /** Ends the file. Run it once, after the last chunk. */
  readonly end: Effect.Effect<void, FileFormatUnknown | StorageError>
}

/** Answer to an upload (area B). */
export interface UploadAnswer {
  readonly message: string
  /** Ids of the new files, in the order of the record. */
  readonly fileIds: ReadonlyArray<string>
}

/** An upload in progress, for files that arrive in chunks. */
export interface DocumentUpload {
  /** Starts the next file, at most 100. `at`: JSON pointer of the file in the upload. */
  readonly file: (at: string) => Effect.Effect<FileWriter, InvalidInput | StorageError>
  /** Stores files and record in one transaction. `input` is the record with a `fileId` in place of each file; each id occurs once. */
  readonly finish: (input: unknown) => Effect.Effect<UploadAnswer, InvalidInput | InvoiceNotYours | NotPermitted | QuotaExceeded | StorageError>
}

/** What an upload needs. */
export interface UploadServices extends InvoiceStores {
  readonly contents: DocumentContents["Service"]
  readonly transaction: Transaction["Service"]
  readonly hash: ContentHash["Service"]
  readonly ids: UniqueIds["Service"]
  readonly checkOwn: CheckOwn
}

type WrittenFile = Omit<DocumentFile, "documentType">

// one function, because its parts share what was counted and written
export const beginUpload = Effect.fnUntraced(function*(services: UploadServices, principal: Principal, { documentBytes: limit, documentsPerInvoice }: Limits) {
  const { contents, documents, ids } = services
  const scope = yield* Scope.Scope
  // the total does not include concurrent uploads, so the quota is checked again when the files are kept. Those that end together may exceed it by their own bytes
  let storedBytes = yield* documents.storedBytes(principal.tenantId)
  const quotaExceeded = new QuotaExceeded({ quota: "documentBytes", limit })
  if (storedBytes >= limit) return yield* quotaExceeded
  const written = new Map<string, WrittenFile>()
  let begun = 0

  const file = Effect.fnUntraced(function*(at: string): Effect.fn.Return<FileWriter, InvalidInput | StorageError> {
    if (++begun > maxFilesPerUpload) {
      return yield* InvalidInput.of(fault(["documents"], `At most ${maxFilesPerUpload} files in one upload. Send several.`, "out_of_bounds"))
    }
    const fileId = yield* ids.next
    const content = yield* Scope.provide(contents.open(principal.tenantId), scope)
    const hash = services.hash.sha256()
    let head: Uint8Array = new Uint8Array(0)
    let format: FileFormat | undefined
    let size = 0
    let refused: FileTooLarge | FileFormatUnknown | QuotaExceeded | undefined

    const take = (chunk: Uint8Array): Uint8Array | FileTooLarge | FileFormatUnknown | QuotaExceeded => {
      let bytes = chunk
      if (format === undefined) {
        bytes = head.length === 0 ? chunk : Bytes.concat([head, chunk])
        const detected = formatOf(bytes)
        if (detected === undefined) return new FileFormatUnknown({ pointer: at })
        if (detected === "undecided") {
          // the caller may reuse its buffer
          head = Uint8Array.from(bytes)
          return new Uint8Array(0)
        }
        format = detected
      }
      size += bytes.length
      storedBytes += bytes.length
      if (size > maxFileBytes) return new FileTooLarge({ pointer: at, maxBytes: maxFileBytes })
      return storedBytes > limit ? quotaExceeded : bytes
    }

    return {
      fileId,
      write: Effect.fnUntraced(function*(chunk: Uint8Array) {
        if (refused !== undefined) return yield* refused
        const bytes = take(chunk)
        if (!(bytes instanceof Uint8Array)) return yield* (refused = bytes)
        if (bytes.length === 0) return
        hash.update(bytes)
        yield* content.write(bytes)
      }),
      end: Effect.gen(function*() {
        if (format === undefined) return yield* (refused = new FileFormatUnknown({ pointer: at }))
        if (refused !== undefined) return
        yield* content.finish
        const sha256 = Hex.encode(hash.digest())
        written.set(fileId, { fileId, contentId: content.contentId, size, sha256, mediaType: format.mediaType })
      })
    }
  })

  /** Runs in a transaction. New files are added to the existing ones. SPEC-GAP-B15 */
  const store = Effect.fnUntraced(function*({ carrier, doc, request }: ReadDocuments, files: ReadonlyArray<DocumentFile>) {
    const { tenantId } = principal
    const { invoiceNumber } = request
    yield* services.invoices.lock(tenantId, carrier, recordId(invoiceNumber))
    const accounts = yield* documentAccounts(services.invoices, tenantId, carrier, invoiceNumber, doc)
    if ((yield* documents.countFiles(tenantId, carrier, invoiceNumber)) + files.length > documentsPerInvoice) {
      return yield* new QuotaExceeded({ quota: "documentsPerInvoice", limit: documentsPerInvoice })
    }
    yield* contents.keep(tenantId, files.map((each) => each.contentId))
    yield* documents.add(tenantId, { carrier, invoiceNumber, shipmentId: request.shipmentID, accounts, doc, files })
    yield* services.invoices.record(tenantId, carrier, recordId(invoiceNumber), {
      at: yield* Clock.currentTimeMillis,
      client: principal.client,
      action: "documents added",
      doc: JSON.stringify({ comments: request.comments ?? [], files: files.map(shownFile) })
    })
    if ((yield* documents.changeStoredBytes(tenantId, bytesOf(files))) > limit) return yield* quotaExceeded
  })

  const finish = Effect.fn("InvoiceDocuments.finish")(function*(input: unknown) {
    const read = yield* readDocuments(input)
    yield* services.checkOwn(principal, read.carrier)
    const files = yield* filesOf(read, written)
    yield* services.transaction.run(store(read, files))
    written.clear()
    const count = `${files.length} ${files.length === 1 ? "file was" : "files were"}`
    return { message: `${count} added to invoice number ${read.request.invoiceNumber}.`, fileIds: files.map((each) => each.fileId) }
  })

  return { file, finish } satisfies DocumentUpload
})

/** The files that a record names. It must name every written file exactly once. */
const filesOf = ({ request }: ReadDocuments, written: ReadonlyMap<string, WrittenFile>): Effect.Effect<ReadonlyArray<DocumentFile>, InvalidInput> => {
  const files: Array<DocumentFile> = []
  const left = new Map(written)
  for (const [place, { documentType, files: fileIds }] of request.documents.entries()) {
    for (const [at, fileId] of fileIds.entries()) {
      const file = left.get(fileId)
      if (file === undefined) return Effect.fail(InvalidInput.of(fault(["documents", place, "files", at], "This file was not sent.")))
      left.delete(fileId)
      files.push({ ...file, documentType })
    }
  }
  return left.size === 0
    ? Effect.succeed(files)
    : Effect.fail(InvalidInput.of(fault(["documents"], "A file was sent that the record does not name. Name each member of the record once.")))
}

/** Size of all files together, in bytes. */
export const bytesOf = (files: ReadonlyArray<DocumentFile>): number => files.reduce((sum, { size }) => sum + size, 0)

/** A file as the history shows it, without its content id. */
export const shownFile = ({ documentType, fileId, mediaType, sha256, size }: DocumentFile) => ({ id: fileId, documentType, size, sha256, mediaType })
