/** Moves the contents of documents from one store to another, while both are in use. */
import { Effect } from "effect"
import { Hex } from "effect/encoding"
import type { StorageError } from "../shared/StoragePort.ts"
import { ContentHash } from "./ContentHash.ts"
import type { DocumentContents } from "./DocumentContents.ts"
import { type DocumentFile, type DocumentRecord, DocumentStore } from "./DocumentStore.ts"

type Contents = DocumentContents["Service"]

/**
 * - `moved`: copied, verified, and the file has its bytes in the target now.
 * - `there`: it has its bytes in the target already.
 * - `deleted`: the file was deleted meanwhile.
 * - `missing`: its bytes are in neither store.
 * - `damaged`: the source does not have the bytes that were uploaded; they stay where they are.
 */
export type DocumentMoveOutcome = "moved" | "there" | "deleted" | "missing" | "damaged"

/** One file of a move and its outcome. */
export interface MovedFile {
  readonly outcome: DocumentMoveOutcome
  readonly invoiceNumber: string
  readonly file: DocumentFile
}

/** Moves the documents of a tenant from one store to another while they are used. */
export interface DocumentMove {
  /** Number of files of the tenant. */
  readonly count: (tenantId: string) => Effect.Effect<number, StorageError>
  /** Moves every file of the tenant, one after the other, and reports each. Files that are uploaded meanwhile may be left out. */
  readonly files: (tenantId: string, onFile: (moved: MovedFile) => Effect.Effect<void>) => Effect.Effect<void, StorageError>
  /**
   * Removes former contents, and copies of an interrupted move, once they are older than this: downloads that began before the move still read them.
   * Returns how many are left.
   */
  readonly clear: (tenantId: string, olderThanMillis: number) => Effect.Effect<number, StorageError>
}

/** Records of one read. */
const recordsAtATime = 100

/** Contents that are removed together. */
const contentsAtATime = 100

/**
 * A moved file gets contents of a new id, so a download that has begun continues with the old ones. Contents to remove later are recorded in the
 * database first, so that an interrupted move leaves no unrecorded bytes.
 */
export const makeDocumentMove = Effect.fnUntraced(function*({ source, target }: { readonly source: Contents; readonly target: Contents }) {
  const documents = yield* DocumentStore
  const hash = yield* ContentHash

  const records = Effect.fnUntraced(function*<E, R>(tenantId: string, each: (record: DocumentRecord) => Effect.Effect<void, E, R>) {
    let after: DocumentRecord | undefined
    for (;;) {
      const page: ReadonlyArray<DocumentRecord> = yield* documents.list(tenantId, { _tag: "All" }, everyRecord, { after, limit: recordsAtATime })
      for (const record of page) yield* each(record)
      if (page.length < recordsAtATime) return
      after = page.at(-1)
    }
  })

  /** Reads contents to their end. Returns whether they are the file's. */
  const read = Effect.fnUntraced(function*<E>(
    contents: Contents,
    tenantId: string,
    contentId: string,
    { sha256 }: DocumentFile,
    use: (bytes: Uint8Array) => Effect.Effect<void, E>
  ) {
    const running = hash.sha256()
    for (let chunk = 0;; chunk++) {
      const bytes = yield* contents.read(tenantId, contentId, chunk)
      if (bytes === undefined) return Hex.encode(running.digest()) === sha256
      running.update(bytes)
      yield* use(bytes)
    }
  })

  const copy = Effect.fnUntraced(function*(tenantId: string, record: DocumentRecord, file: DocumentFile) {
    const { contentId: from } = file
    const writer = yield* target.open(tenantId)
    const to = writer.contentId
    if (!(yield* read(source, tenantId, from, file, writer.write))) return "damaged"
    yield* writer.finish
    yield* documents.discard(tenantId, to)
    yield* target.keep(tenantId, [to])
    // verifies what the target stored, not what was sent to it
    if (!(yield* read(target, tenantId, to, file, () => Effect.void))) return "damaged"
    return (yield* documents.moveContent(tenantId, record, { from, to })) ? "moved" : "deleted"
  }, Effect.scoped)

  const tryMove = Effect.fnUntraced(function*(tenantId: string, record: DocumentRecord, file: DocumentFile): Effect.fn.Return<DocumentMoveOutcome, StorageError> {
    if ((yield* source.read(tenantId, file.contentId, 0)) !== undefined) return yield* copy(tenantId, record, file)
    return (yield* target.read(tenantId, file.contentId, 0)) === undefined ? "missing" : "there"
  })

  /** Bytes also vanish when the file is deleted, or moved by another run, since its record was read. */
  const move = Effect.fnUntraced(function*(tenantId: string, record: DocumentRecord, file: DocumentFile): Effect.fn.Return<DocumentMoveOutcome, StorageError> {
    const outcome = yield* tryMove(tenantId, record, file)
    if (outcome !== "missing" && outcome !== "damaged") return outcome
    const { carrier, invoiceNumber } = record
    const [now] = yield* documents.list(tenantId, { _tag: "All" }, { ...everyRecord, ...carrier, invoiceNumber }, { after: undefined, limit: 1 })
    const found = now?.files.find(({ fileId }) => fileId === file.fileId)
    if (found === undefined) return "deleted"
    return found.contentId === file.contentId ? outcome : "there"
  })

  const files: DocumentMove["files"] = (tenantId, onFile) =>
    records(tenantId, (record) =>
      Effect.forEach(record.files, (file) =>
        Effect.flatMap(move(tenantId, record, file), (outcome) => onFile({ outcome, invoiceNumber: record.invoiceNumber, file })), { discard: true }))

  const count: DocumentMove["count"] = Effect.fnUntraced(function*(tenantId) {
    let all = 0
    yield* records(tenantId, ({ files }) => Effect.sync(() => void (all += files.length)))
    return all
  })

  const clear: DocumentMove["clear"] = Effect.fnUntraced(function*(tenantId, olderThanMillis) {
    for (;;) {
      const contentIds = yield* documents.claimDiscarded(tenantId, olderThanMillis, contentsAtATime)
      if (contentIds.length === 0) return yield* documents.countDiscarded(tenantId)
      // a content is in one store only
      yield* source.remove(tenantId, contentIds)
      yield* target.remove(tenantId, contentIds)
      yield* documents.forgetDiscarded(tenantId, contentIds)
    }
  })

  return { count, files, clear } satisfies DocumentMove
})

const everyRecord = { invoiceNumber: undefined, dot: undefined, mc: undefined, documentTypes: undefined } as const
