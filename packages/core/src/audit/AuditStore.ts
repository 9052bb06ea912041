/** Storage port: the audit log. */
import { Context, type Effect } from "effect"
import type { StorageError } from "../shared/StoragePort.ts"
import type { AuditRecord } from "./model/AuditEntry.ts"

/** Which entries a page of the audit log has. `undefined` selects all. */
export interface AuditRange {
  readonly tenantId: string | undefined
  /** The actor's name, of any kind. */
  readonly actor: string | undefined
  /** First id, inclusive. */
  readonly from: string | undefined
  /** Ids before this one only. */
  readonly before: string | undefined
  readonly limit: number
}

/** Storage port of the audit log. Ids sort by time. */
export class AuditStore extends Context.Service<AuditStore, {
  /** Adds entries. An existing id gets the new outcome and object. */
  readonly put: (records: ReadonlyArray<AuditRecord>) => Effect.Effect<void, StorageError>
  /** Lists entries, newest first, of all tenants unless one is named; at most `limit`. */
  readonly page: (range: AuditRange) => Effect.Effect<ReadonlyArray<AuditRecord>, StorageError>
  /** Deletes entries with ids before this one, a few thousand per call. Returns their number. */
  readonly prune: (before: string) => Effect.Effect<number, StorageError>
}>()("@waybill/core/audit/AuditStore") {}
