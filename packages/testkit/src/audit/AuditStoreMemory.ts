/** The audit log in memory. */
import { type AuditRecord, AuditStore, compareText } from "@waybill/core"
import { Effect, Layer } from "effect"
import { MemoryDatabase } from "../shared/MemoryDatabase.ts"

export const AuditStoreMemory = {
  layer: Layer.effect(
    AuditStore,
    Effect.gen(function*() {
      const { journal, operate } = yield* MemoryDatabase
      const entries = new Map<string, AuditRecord>()
      return AuditStore.of({
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
      })
    })
  )
}
