/** Waiting e-mails in memory. */
import { compareText, type Mail, mailsPerPrune, mailsPerTenant, MailStore } from "@waybill/core"
import { AccessTables, type TenantRow } from "../access/AccessTables.ts"
import { storeLayer } from "../shared/StoreLayer.ts"
import { TenantRows } from "../shared/TenantRows.ts"

interface MailRow {
  readonly client: string
  readonly mail: Mail
  readonly attempts: number
  readonly dueAt: number
  /** When `dueAt` was set: ahead of the clock once the clock was set back. */
  readonly scheduledAt: number
  readonly createdAt: number
}

const isAhead = ({ scheduledAt }: MailRow, now: number): boolean => scheduledAt > now + 60_000

const isKept = (tenant: TenantRow | undefined): boolean => tenant !== undefined && tenant.state !== "deleted"

export const layer = storeLayer(MailStore, { access: AccessTables }, ({ access: { tenants: known }, journal, onPurge, operate }) => {
  const tenants = new TenantRows({ journal, onPurge }, () => new Map<string, MailRow>())

  const due = (rows: Map<string, MailRow>, now: number): ReadonlyArray<MailRow> =>
    [...rows.values()].filter(({ dueAt }) => dueAt <= now).sort((one, other) => one.dueAt - other.dueAt)

  return {
    put: (tenantId, client, mail) =>
      operate((now) => {
        const own = tenants.of(tenantId)
        const ofClient = [...own.values()].filter((row) => row.client === client).length
        if (own.size + ofClient >= mailsPerTenant) return false
        if (!own.has(mail.id)) journal.put(own, mail.id, { client, mail, attempts: 0, dueAt: now, scheduledAt: now, createdAt: now })
        return true
      }),
    tenants: ({ after = "", limit }) =>
      operate((now) =>
        [...tenants.byTenant].filter(([tenantId, rows]) => compareText(tenantId, after) > 0 && isKept(known.get(tenantId)) && [...rows.values()].some((row) => row.dueAt <= now || isAhead(row, now)))
          .map(([tenantId]) => tenantId).sort(compareText).slice(0, limit)),
    take: (tenantId, limit, leaseMillis) =>
      operate((now) => {
        const own = tenants.of(tenantId)
        const taken = due(own, now).slice(0, limit)
        for (const row of own.values()) {
          if (row.dueAt > now && isAhead(row, now)) journal.put(own, row.mail.id, { ...row, dueAt: now + row.dueAt - row.scheduledAt, scheduledAt: now })
        }
        return taken.map(({ attempts, client, createdAt, mail }) => {
          journal.put(own, mail.id, { client, mail, attempts: attempts + 1, dueAt: now + leaseMillis, scheduledAt: now, createdAt })
          return { ...mail, attempt: attempts + 1, waitedMillis: now - createdAt }
        })
      }),
    lagMillis: operate((now) => Math.max(0, ...[...tenants.byTenant.values()].flatMap((rows) => [...rows.values()]).map(({ dueAt }) => now - dueAt))),
    postpone: (tenantId, id, millis) =>
      operate((now) => {
        const own = tenants.of(tenantId)
        const row = own.get(id)
        if (row !== undefined) journal.put(own, id, { ...row, dueAt: now + millis, scheduledAt: now })
      }),
    remove: (tenantId, id) => operate(() => journal.drop(tenants.of(tenantId), id)),
    prune: (tenantId, before) => operate(() => journal.dropWhere(tenants.of(tenantId), ({ createdAt }) => createdAt < before, mailsPerPrune))
  }
})
