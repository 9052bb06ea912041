/** The common part of the rows of all memory stores. */
import { entryIn } from "./EntryIn.ts"
import type { Journal } from "./Journal.ts"

export abstract class TenantRows<Own> {
  readonly byTenant = new Map<string, Own>()
  protected readonly journal: Journal

  constructor(journal: Journal) {
    this.journal = journal
  }

  /** What a tenant without rows has. */
  protected abstract empty(): Own

  /** Removes all rows of a tenant. Returns whether there were any. */
  forgetTenant(tenantId: string): boolean {
    return this.byTenant.delete(tenantId)
  }

  of(tenantId: string): Own {
    return entryIn(this.byTenant, tenantId, () => this.empty())
  }
}
