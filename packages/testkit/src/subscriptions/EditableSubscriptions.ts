/** The common part of the memory stores of subscriptions that their clients may change. */
import { compareText, type StoredSubscriptionRow, type SubscriptionRow } from "@waybill/core"
import { Option } from "effect"
import type { DestinationRows } from "../delivery/DestinationTables.ts"
import type { MemoryDatabase } from "../shared/MemoryDatabase.ts"
import { documentsIn } from "../shared/SubscriptionDocuments.ts"

/** What is left of a subscription that its client removed. */
export interface RemovedSubscription {
  readonly client: string
  readonly at: number
}

/** The subscriptions of a tenant, and those that were removed. */
interface EditableRows<Row> {
  readonly subscriptions: Map<string, Row>
  readonly removed: Map<string, RemovedSubscription>
}

/** The maximum number that one call of `prune` removes. */
const pruneLimit = 2000

export const editableIn = <Row extends SubscriptionRow>(
  { destinations, journal, operate }: MemoryDatabase["Service"] & { readonly destinations: DestinationRows },
  rowsOf: (tenantId: string) => EditableRows<Row>,
  drop: (tenantId: string, id: string) => void
) => {
  const stored = (tenantId: string, { client, createdAt, doc, id, updatedAt }: Row): ReadonlyArray<StoredSubscriptionRow> => {
    const destination = destinations.find(tenantId, id)
    return destination === undefined ? [] : [{ id, client, doc, createdAt, updatedAt, destination: destination.status }]
  }

  return {
    /** The client's own subscriptions, by id. */
    own: (tenantId: string, client: string): ReadonlyArray<StoredSubscriptionRow> =>
      [...rowsOf(tenantId).subscriptions.values()]
        .filter((row) => row.client === client)
        .flatMap((row) => stored(tenantId, row))
        .sort((a, b) => compareText(a.id, b.id)),
    find: (tenantId: string, client: string, id: string) =>
      operate(() => {
        const row = rowsOf(tenantId).subscriptions.get(id)
        return Option.fromUndefinedOr(row?.client === client ? stored(tenantId, row)[0] : undefined)
      }),
    remove: (tenantId: string, client: string, id: string) =>
      operate((now): "removed" | "gone" | "unknown" => {
        const { removed, subscriptions } = rowsOf(tenantId)
        if (subscriptions.get(id)?.client !== client) return removed.get(id)?.client === client ? "gone" : "unknown"
        drop(tenantId, id)
        journal.put(removed, id, { client, at: now })
        return "removed"
      }),
    prune: (tenantId: string, removedBefore: number) => operate(() => journal.dropWhere(rowsOf(tenantId).removed, ({ at }) => at < removedBefore, pruneLimit)),
    documents: (tenantId: string, ids: ReadonlyArray<string>) => operate(() => documentsIn(ids, (id) => rowsOf(tenantId).subscriptions.get(id)?.doc))
  }
}
