/** The audit log, in the operator API. */
import type { PageQuery } from "../connection/CursorPages.ts"

/** One recorded call: actor, address, tenant, object and outcome. */
export interface AuditEntry {
  readonly at: string
  readonly actor: { readonly kind: "operator" | "client"; readonly name: string }
  /** `null` where the server does not know it. */
  readonly address: string | null
  /** Stable name, such as `api-key.create`. */
  readonly action: string
  /** `null` where the call concerned no tenant. */
  readonly tenantId: string | null
  /** `id` is empty where the call concerned several objects. */
  readonly object: { readonly kind: string; readonly id: string }
  readonly result: "ok" | "refused"
  /** Status of the response. 0: the process ended before it answered; the call may have been executed. */
  readonly status: number
  readonly requestId: string
}

/** Filters of the audit log; all given ones must match. */
export interface AuditQuery extends PageQuery {
  /** Only calls about this tenant. */
  readonly tenant?: string | undefined
  /** Only calls of this operator or client; a bare name is also the client `key:<name>`. */
  readonly actor?: string | undefined
  /** Inclusive start. */
  readonly since?: string | Date | undefined
}
