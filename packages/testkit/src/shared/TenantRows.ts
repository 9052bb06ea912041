/** The rows of a memory store by tenant. They are removed with the tenant. */
import { entryIn } from "./EntryIn.ts"
import type { Journal } from "./Journal.ts"
import type { MemoryDatabase } from "./MemoryDatabase.ts"

export class TenantRows<Own> {
  readonly byTenant = new Map<string, Own>()
  readonly journal: Journal
  private readonly empty: (tenantId: string) => Own

  /** `empty` is what a tenant without rows has. */
  constructor({ journal, onPurge }: Pick<MemoryDatabase["Service"], "journal" | "onPurge">, empty: (tenantId: string) => Own) {
    this.journal = journal
    this.empty = empty
    onPurge((tenantId) => this.byTenant.delete(tenantId))
  }

  of(tenantId: string): Own {
    return entryIn(this.byTenant, tenantId, () => this.empty(tenantId))
  }
}
