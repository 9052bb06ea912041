/** One recorded call: who, from where, which tenant and object, and whether it was done. */
export interface AuditEntry {
  readonly at: string
  readonly actor: { readonly kind: "operator" | "client"; readonly name: string }
  /** `null` where the server does not know it. */
  readonly address: string | null
  /** A stable word, such as `api-key.create`. */
  readonly action: string
  /** `null` where the call concerned no tenant. */
  readonly tenantId: string | null
  /** `id` is empty where the call concerned several objects. */
  readonly object: { readonly kind: string; readonly id: string }
  readonly result: "ok" | "refused"
  /** Of the answer. 0: the process ended before it answered; the call may have been carried out. */
  readonly status: number
  readonly requestId: string
}

export interface AuditQuery {
  /** Only calls about this tenant. */
  readonly tenant?: string | undefined
  /** Only calls of this operator or client, by its whole name. */
  readonly actor?: string | undefined
  /** At this time or later. */
  readonly since?: string | Date | undefined
  /** How many in one page: 1 to 500; the server's default is 100. */
  readonly limit?: number | undefined
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined
}
