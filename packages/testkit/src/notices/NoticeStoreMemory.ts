/** Notices to customers in memory. */
import { type NoticeContacts, type NoticeKey, noNoticeContacts, noticesPerPrune, NoticeStore } from "@waybill/core"
import { Effect } from "effect"
import { DestinationTables } from "../delivery/DestinationTables.ts"
import { storeLayer } from "../shared/StoreLayer.ts"
import { TenantRows } from "../shared/TenantRows.ts"

class TenantNotices {
  readonly contacts = new Map<string, NoticeContacts>()
  lastNotice = 0
  readonly claims = new Map<string, NoticeKey>()
}

export const layer = storeLayer(NoticeStore, { destinations: DestinationTables }, ({ destinations, journal, onPurge, operate }) => {
  const rows = new TenantRows({ journal, onPurge }, () => new TenantNotices())

  return {
    contacts: (tenantId, client) => operate(() => rows.of(tenantId).contacts.get(client) ?? noNoticeContacts),
    setContacts: (tenantId, client, contacts) =>
      operate(() => contacts.email === undefined && contacts.webhookId === undefined ? journal.drop(rows.of(tenantId).contacts, client) : journal.put(rows.of(tenantId).contacts, client, contacts)),
    endWebhook: (tenantId, client, webhookId) =>
      operate(() => {
        const { contacts } = rows.of(tenantId)
        const own = contacts.get(client)
        if (own?.webhookId === webhookId) journal.put(contacts, client, { ...own, webhookId: undefined })
      }),
    claim: (tenantId, key) =>
      operate(() => {
        const { claims } = rows.of(tenantId)
        if (claims.has(nameOf(key))) return false
        journal.put(claims, nameOf(key), key)
        return true
      }),
    queue: (tenantId, { body, noticeId, subscriptionId, traceparent, webhookId }) =>
      operate((now) => {
        const destination = destinations.find(tenantId, webhookId)
        if (destination === undefined) return
        const own = rows.of(tenantId)
        journal.set(own, "lastNotice", own.lastNotice + 1)
        destinations.enqueue(destination, { key: subscriptionId, sequence: own.lastNotice, orderId: noticeId, payload: body, traceparent, seenBy: () => true }, now)
        destinations.signal(destination, subscriptionId)
      }),
    // bodies are parts of their deliveries
    pruneBodies: () => Effect.succeed(0),
    prune: (tenantId, beforeDay) => operate(() => journal.dropWhere(rows.of(tenantId).claims, ({ day }) => day < beforeDay, noticesPerPrune))
  }
})

const nameOf = ({ day, kind, subscriptionId }: NoticeKey): string => `${subscriptionId} ${kind} ${day}`
