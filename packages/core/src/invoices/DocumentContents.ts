/** Port: the bytes of documents, in pieces, wherever they are kept. Contents are never logged. */
import { Context, type Effect, type Scope } from "effect"
import type { StorageError } from "../shared/StorageError.ts"

/** A content that is being written. Nobody sees it before `keep`; unless it is kept, it is gone when the scope ends. */
export interface ContentWriter {
  readonly contentId: string
  /** Pieces in order. A writer holds at most a few hundred kilobytes in memory. */
  readonly write: (piece: Uint8Array) => Effect.Effect<void, StorageError>
  /** Writes what is held back; nothing is written after it. A content that is kept was finished. */
  readonly finish: Effect.Effect<void, StorageError>
}

export class DocumentContents extends Context.Service<DocumentContents, {
  readonly open: (tenantId: string) => Effect.Effect<ContentWriter, StorageError, Scope.Scope>
  /** Makes written contents lasting; fails where one of them is no longer there. Where contents share a database with the records, it is part of the caller's transaction. */
  readonly keep: (tenantId: string, contentIds: ReadonlyArray<string>) => Effect.Effect<void, StorageError>
  /** Piece number `piece` of a content, counting from 0; `undefined` past its end. Pieces of one content have one length but for the last, at most 256 KiB. */
  readonly read: (tenantId: string, contentId: string, piece: number) => Effect.Effect<Uint8Array | undefined, StorageError>
  readonly remove: (tenantId: string, contentIds: ReadonlyArray<string>) => Effect.Effect<void, StorageError>
  /** Removes what was written before an instant and never kept, because its writer died. Answers how many. */
  readonly sweep: (tenantId: string, writtenBefore: number) => Effect.Effect<number, StorageError>
}>()("@waybill/core/invoices/DocumentContents") {}
