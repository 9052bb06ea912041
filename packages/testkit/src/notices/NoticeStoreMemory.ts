/** Notices to customers in memory. */
import { type NoticeKey, noticesPerPrune, NoticeStore } from "@waybill/core"
import { Effect, Layer, Option } from "effect"
import { MemoryDatabase } from "../shared/MemoryDatabase.ts"

interface TenantNotices {
  readonly contacts: Map<string, string>
  readonly claims: Map<string, NoticeKey>
}

export const NoticeStoreMemory = {
  layer: Layer.effect(
    NoticeStore,
    Effect.gen(function*() {
      const { journal, onPurge, operate } = yield* MemoryDatabase
      const tenants = new Map<string, TenantNotices>()
      onPurge((tenantId) => tenants.delete(tenantId))

      const of = (tenantId: string): TenantNotices => {
        const own = tenants.get(tenantId) ?? { contacts: new Map(), claims: new Map() }
        tenants.set(tenantId, own)
        return own
      }

      return NoticeStore.of({
        contact: (tenantId, client) => operate(() => Option.fromUndefinedOr(of(tenantId).contacts.get(client))),
        setContact: (tenantId, client, email) =>
          operate(() => email === undefined ? journal.drop(of(tenantId).contacts, client) : journal.put(of(tenantId).contacts, client, email)),
        claim: (tenantId, key) =>
          operate(() => {
            const { claims } = of(tenantId)
            if (claims.has(nameOf(key))) return false
            journal.put(claims, nameOf(key), key)
            return true
          }),
        prune: (tenantId, beforeDay) =>
          operate(() => {
            const { claims } = of(tenantId)
            const old = [...claims].filter(([, { day }]) => day < beforeDay).slice(0, noticesPerPrune)
            for (const [name] of old) journal.drop(claims, name)
            return old.length
          })
      })
    })
  )
}

const nameOf = ({ day, kind, subscriptionId }: NoticeKey): string => `${subscriptionId} ${kind} ${day}`
