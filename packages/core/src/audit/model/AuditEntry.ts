/** An entry of the audit log: actor, address, action, object and result. */
import { Schema } from "effect"
import { InstantText } from "../../shared/Instant.ts"
import { Count } from "../../shared/Members.ts"
import { IdCursor, ListLimit } from "../../shared/ListPage.ts"

/** A recorded call. Contains nothing of its body or query. */
export interface AuditCall {
  readonly actor: { readonly kind: "operator" | "client"; readonly name: string }
  /** The caller's address; `undefined` if unknown. */
  readonly address: string | undefined
  /** A stable name, such as `api-key.create`. */
  readonly action: string
  /** Empty if the call concerns no tenant. */
  readonly tenantId: string
  /** `id` is empty if the call concerns several objects, or an unknown one. */
  readonly object: { readonly kind: string; readonly id: string }
  readonly requestId: string
}

/** `status` is the HTTP status of the answer. 0: the call has not ended, or its process ended first. */
export interface AuditOutcome {
  readonly status: number
  /** Set if only the answer contains it, such as the id of a new key. */
  readonly objectId?: string | undefined
}

/** A stored entry. */
export interface AuditRecord extends AuditCall {
  /** Sorts in the order of time. */
  readonly id: string
  readonly at: number
  readonly result: "ok" | "refused"
  readonly status: number
}

/** An entry of the audit log as operators read it. */
export const AuditEntry = Schema.Struct({
  at: InstantText,
  actor: Schema.Struct({ kind: Schema.Literals(["operator", "client"]), name: Schema.String }),
  address: Schema.NullOr(Schema.String),
  action: Schema.String,
  tenantId: Schema.NullOr(Schema.String),
  object: Schema.Struct({ kind: Schema.String, id: Schema.String }),
  result: Schema.Literals(["ok", "refused"]),
  status: Count.annotate({ description: "HTTP status of the response. 0: the process ended before it answered; the call may have been executed." }),
  requestId: Schema.String
}).annotate({ identifier: "AuditEntry" })
export type AuditEntry = typeof AuditEntry.Type

/** A page of the audit log. `since` is inclusive. */
export const AuditQuery = Schema.Struct({
  tenant: Schema.optionalKey(Schema.String),
  actor: Schema.optionalKey(Schema.String),
  since: Schema.optionalKey(InstantText),
  cursor: IdCursor,
  limit: ListLimit
})
