/** Freight bills in memory. */
import { compareText } from "@waybill/core"
import { type BillChanges, type BillRow, FreightBillStore } from "@waybill/core/freight-charges"
import { storeLayer } from "../shared/StoreLayer.ts"
import { FreightChargeTables } from "./FreightChargeTables.ts"

/** The maximum number of rows of each kind that one call of `prune` removes. */
const pruneLimit = 2000

export const layer = storeLayer(FreightBillStore, { rows: FreightChargeTables }, ({ journal, operate, rows }) => {
  const append = (tenantId: string, { bills, notices, notifications, traceparent }: BillChanges, now: number): void => {
    for (const each of bills) rows.putBill(tenantId, each, now)
    const stored = notices.map((each) => rows.putNotice(tenantId, each, now))
    for (const each of notifications) rows.notify(tenantId, each, stored[each.notice]!, traceparent, now)
  }

  const prune = (tenantId: string, before: { readonly ended: number; readonly noticed: number }): number => {
    const { bills, notices, subscriptions } = rows.of(tenantId)
    const ended = [...bills.values()].filter((each) => each.state !== "open" && each.storedAt < before.ended).slice(0, pruneLimit)
    for (const each of ended) rows.dropBill(tenantId, each.billId)
    const unused = rows.unusedNotices(tenantId).filter((each) => each.storedAt < before.noticed).slice(0, pruneLimit)
    for (const each of unused) journal.drop(notices, each.noticeId)
    return ended.length + unused.length + journal.dropWhere(subscriptions, ({ cancelledAt = Infinity }) => cancelledAt < before.noticed, pruneLimit)
  }

  return {
    lock: (tenantId, billIds) => operate(() => [...new Set(billIds)].flatMap((billId) => rowOf(rows.of(tenantId).bills.get(billId)))),
    // transactions are serialised, so no other one is creating a subscription
    gate: () => operate((now) => now),
    viewers: (tenantId, accounts) => operate(() => rows.viewers(tenantId, accounts)),
    append: (tenantId, changes) => operate((now) => append(tenantId, changes, now)),
    beginning: (tenantId, prefixes, limit) => operate(() => rows.beginning(tenantId, prefixes, limit).flatMap(rowOf)),
    open: (tenantId, accounts, { after, limit, unlistedBy }) =>
      operate(() => rows.openBills(tenantId, accounts, unlistedBy).flatMap(rowOf).filter(({ billId }) => after === undefined || compareText(billId, after) > 0).slice(0, limit)),
    prune: (tenantId, before) => operate(() => prune(tenantId, before))
  }
})

const rowOf = (bill: BillRow | undefined): ReadonlyArray<BillRow> => {
  if (bill === undefined) return []
  const { accounts, billId, doc, state, version } = bill
  return [{ billId, version, state, accounts, doc }]
}
