/** Port: the bytes of documents, in chunks. Implementations never log them. */
import { Context, type Effect, type Scope } from "effect"
import type { StorageError } from "../shared/StoragePort.ts"

/** A content that is being written. It is invisible until `keep`, and deleted when the scope ends without it. */
export interface ContentWriter {
  readonly contentId: string
  /** Writes chunks in order. A writer buffers at most a few hundred kilobytes. */
  readonly write: (chunk: Uint8Array) => Effect.Effect<void, StorageError>
  /** Flushes the buffer. No write may follow. Required before `keep`. */
  readonly finish: Effect.Effect<void, StorageError>
}

/** Storage port: the bytes of documents, in chunks. Contents that are not kept are deleted later. */
export class DocumentContents extends Context.Service<DocumentContents, {
  /** Begins a content with a new id. */
  readonly open: (tenantId: string) => Effect.Effect<ContentWriter, StorageError, Scope.Scope>
  /**
   * Keeps written contents permanently, while their writers are open. Fails if one of them is not this tenant's or no longer exists. If contents are in the same database as the records, this
   * is part of the caller's transaction.
   */
  readonly keep: (tenantId: string, contentIds: ReadonlyArray<string>) => Effect.Effect<void, StorageError>
  /** Reads one chunk of a content; `chunk` counts from 0. Returns `undefined` after the last one. All chunks but the last have one length, at most 256 KiB. */
  readonly read: (tenantId: string, contentId: string, chunk: number) => Effect.Effect<Uint8Array | undefined, StorageError>
  /** Removes kept contents; ids without one are ignored. If contents are in the same database as the records, this is part of the caller's transaction. */
  readonly remove: (tenantId: string, contentIds: ReadonlyArray<string>) => Effect.Effect<void, StorageError>
  /** Deletes some of the contents written before an instant and never kept, because their writer failed. Returns their number; 0 when no others can be deleted now. */
  readonly sweep: (tenantId: string, writtenBefore: number) => Effect.Effect<number, StorageError>
}>()("@waybill/core/invoices/DocumentContents") {}
