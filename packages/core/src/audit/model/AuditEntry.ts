/** Who did what, from where, to which object, and whether it was done. */
import { Schema } from "effect"
import { InstantText } from "../../shared/Instant.ts"
import { ListCursor, ListLimit } from "../../shared/ListPage.ts"

/** A call that is recorded. Nothing of its body or query is in it. */
export interface AuditCall {
  readonly actor: { readonly kind: "operator" | "client"; readonly name: string }
  /** Where the call came from; `undefined` where nothing is known. */
  readonly address: string | undefined
  /** A stable word, such as `api-key.create`. */
  readonly action: string
  /** Empty where the call concerns no tenant. */
  readonly tenantId: string
  /** `id` is empty where the call concerns several objects, or none that is known. */
  readonly object: { readonly kind: string; readonly id: string }
  readonly requestId: string
}

/** `status` is the HTTP status of the answer; 0 stands for a call that has not ended, or whose process ended first. */
export interface AuditOutcome {
  readonly status: number
  /** Where only the answer knows it, such as the id of a new key. */
  readonly objectId?: string | undefined
}

/** An entry as stores keep it. */
export interface AuditRecord extends AuditCall {
  /** Later ones sort after earlier ones. */
  readonly id: string
  readonly at: number
  readonly result: "ok" | "refused"
  readonly status: number
}

export const AuditEntry = Schema.Struct({
  at: InstantText,
  actor: Schema.Struct({ kind: Schema.Literals(["operator", "client"]), name: Schema.String }),
  address: Schema.NullOr(Schema.String),
  action: Schema.String,
  tenantId: Schema.NullOr(Schema.String),
  object: Schema.Struct({ kind: Schema.String, id: Schema.String }),
  result: Schema.Literals(["ok", "refused"]),
  status: Schema.Int.annotate({ description: "Of the answer. 0: the process ended before it answered; the call may have been carried out." }),
  requestId: Schema.String
}).annotate({ identifier: "AuditEntry" })
export type AuditEntry = typeof AuditEntry.Type

export const AuditQuery = Schema.Struct({
  tenant: Schema.optionalKey(Schema.String),
  actor: Schema.optionalKey(Schema.String),
  since: Schema.optionalKey(InstantText),
  cursor: ListCursor,
  limit: ListLimit
})
