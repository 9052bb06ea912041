/** What the rows of all memory stores have in common. */
import type { Journal } from "./Journal.ts"

export abstract class TenantRows<Own> {
  readonly tenants = new Map<string, Own>()
  protected readonly journal: Journal

  constructor(journal: Journal) {
    this.journal = journal
  }

  /** What a tenant without rows has. */
  protected abstract empty(): Own

  /** Removes all rows of a tenant. Returns whether there were any. */
  forgetTenant(tenantId: string): boolean {
    return this.tenants.delete(tenantId)
  }

  of(tenantId: string): Own {
    let own = this.tenants.get(tenantId)
    if (own === undefined) {
      own = this.empty()
      this.tenants.set(tenantId, own)
    }
    return own
  }
}
