/** Notices to customers in memory. */
import { type NoticeContacts, type NoticeKey, noNoticeContacts, noticesPerPrune, NoticeStore } from "@waybill/core"
import { Effect } from "effect"
import { DestinationTables } from "../delivery/DestinationTables.ts"
import { entryIn } from "../shared/EntryIn.ts"
import { storeLayer } from "../shared/StoreLayer.ts"

interface TenantNotices {
  readonly contacts: Map<string, NoticeContacts>
  readonly lastNotice: { value: number }
  readonly claims: Map<string, NoticeKey>
}

export const layer = storeLayer(NoticeStore, { destinations: DestinationTables }, ({ destinations, journal, onPurge, operate }) => {
  const tenants = new Map<string, TenantNotices>()
  onPurge((tenantId) => tenants.delete(tenantId))

  const of = (tenantId: string): TenantNotices => entryIn(tenants, tenantId, () => ({ contacts: new Map(), lastNotice: { value: 0 }, claims: new Map() }))

  return {
    contacts: (tenantId, client) => operate(() => of(tenantId).contacts.get(client) ?? noNoticeContacts),
    setContacts: (tenantId, client, contacts) =>
      operate(() => contacts.email === undefined && contacts.webhookId === undefined ? journal.drop(of(tenantId).contacts, client) : journal.put(of(tenantId).contacts, client, contacts)),
    endWebhook: (tenantId, client, webhookId) =>
      operate(() => {
        const { contacts } = of(tenantId)
        const own = contacts.get(client)
        if (own?.webhookId === webhookId) journal.put(contacts, client, { ...own, webhookId: undefined })
      }),
    claim: (tenantId, key) =>
      operate(() => {
        const { claims } = of(tenantId)
        if (claims.has(nameOf(key))) return false
        journal.put(claims, nameOf(key), key)
        return true
      }),
    queue: (tenantId, { body, noticeId, subscriptionId, traceparent, webhookId }) =>
      operate((now) => {
        const destination = destinations.find(tenantId, webhookId)
        if (destination === undefined) return
        const { lastNotice } = of(tenantId)
        journal.set(lastNotice, "value", lastNotice.value + 1)
        destinations.enqueue(destination, { key: subscriptionId, sequence: lastNotice.value, orderId: noticeId, payload: body, traceparent, seenBy: () => true }, now)
        destinations.signal(destination, subscriptionId)
      }),
    // bodies are parts of their deliveries
    pruneBodies: () => Effect.succeed(0),
    prune: (tenantId, beforeDay) => operate(() => journal.dropWhere(of(tenantId).claims, ({ day }) => day < beforeDay, noticesPerPrune))
  }
})

const nameOf = ({ day, kind, subscriptionId }: NoticeKey): string => `${subscriptionId} ${kind} ${day}`
