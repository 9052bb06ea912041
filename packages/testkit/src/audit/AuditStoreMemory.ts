/** The audit log in memory. */
import { type AuditRecord, AuditStore, compareText } from "@waybill/core"
import { storeLayer } from "../shared/StoreLayer.ts"

export const layer = storeLayer(AuditStore, {}, ({ journal, operate }) => {
  const entries = new Map<string, AuditRecord>()
  return {
    put: (records) =>
      operate(() =>
        journal.asRecord(() => {
          for (const record of records) {
            const { object, result, status } = record
            journal.put(entries, record.id, { ...entries.get(record.id) ?? record, object, result, status })
          }
        })
      ),
    page: ({ actor, before, from, limit, tenantId }) =>
      operate(() =>
        [...entries.values()]
          .filter((each) =>
            (tenantId ?? each.tenantId) === each.tenantId && (actor ?? each.actor.name) === each.actor.name &&
            (before === undefined || each.id < before) && (from === undefined || each.id >= from)
          )
          .sort((a, b) => compareText(b.id, a.id))
          .slice(0, limit)
      ),
    prune: (before) => operate(() => journal.dropWhere(entries, ({ id }) => id < before))
  }
})
