/** Storage port: the audit log. */
import { Context, type Effect } from "effect"
import type { StorageError } from "../shared/StorageError.ts"
import type { AuditRecord } from "./model/AuditEntry.ts"

export interface AuditRange {
  readonly tenantId: string | undefined
  /** The actor's name, of either kind. */
  readonly actor: string | undefined
  /** Ids from this one on. */
  readonly from: string | undefined
  /** Ids before this one. */
  readonly before: string | undefined
  readonly limit: number
}

export class AuditStore extends Context.Service<AuditStore, {
  /** Adds entries. One whose id is there already gets the new outcome and object. */
  readonly put: (records: ReadonlyArray<AuditRecord>) => Effect.Effect<void, StorageError>
  /** Newest first, across tenants unless one is named; `limit` at most. */
  readonly page: (range: AuditRange) => Effect.Effect<ReadonlyArray<AuditRecord>, StorageError>
  /** Removes entries whose id is before this one, a few thousand a call. Answers how many. */
  readonly prune: (before: string) => Effect.Effect<number, StorageError>
}>()("@waybill/core/audit/AuditStore") {}
