/** Charge subscriptions with their windows, in memory. */
import { accountOfGrant, compareText, type ListRange } from "@waybill/core"
import { ChargeSubscriptionStore, type CoveredAccount, type InFlightBill, type StoredChargeSubscription } from "@waybill/core/freight-charges"
import { Option } from "effect"
import { DestinationTables } from "../delivery/DestinationTables.ts"
import { firstWithin } from "../shared/NewestFirst.ts"
import { storeLayer } from "../shared/StoreLayer.ts"
import { documentsIn } from "../shared/SubscriptionDocuments.ts"
import { type ChargeSubscriptionRow, covers, type FreightChargeRows, FreightChargeTables } from "./FreightChargeTables.ts"

/** The maximum number of windows that one call of `closeWindows` closes. */
const closeLimit = 500

export const layer = storeLayer(ChargeSubscriptionStore, { rows: FreightChargeTables, destinations: DestinationTables }, ({ destinations, operate, rows }) => {
  const own = (tenantId: string, client: string, id: string): ChargeSubscriptionRow | undefined => {
    const row = rows.of(tenantId).subscriptions.get(id)
    return row?.record.client === client ? row : undefined
  }

  const storedOf = (tenantId: string, { cancelledAt, record: { client, createdAt, doc, id } }: ChargeSubscriptionRow): StoredChargeSubscription => ({
    id,
    client,
    doc,
    createdAt,
    cancelledAt,
    destination: cancelledAt === undefined ? destinations.find(tenantId, id)?.status : undefined
  })

  const stored = (tenantId: string, row: ChargeSubscriptionRow | undefined): Option.Option<StoredChargeSubscription> =>
    Option.map(Option.fromUndefinedOr(row), (known) => storedOf(tenantId, known))

  const inFlight = (tenantId: string, client: string, id: string, { after, ...most }: ListRange & { readonly bytes: number }): ReadonlyArray<InFlightBill> => {
    const accounts = rows.accountsOf(tenantId, client)
    const bills = (own(tenantId, client, id)?.inFlight ?? [])
      .filter((each) => each.accounts.some((account) => accounts.has(account)))
      .toSorted((a, b) => compareText(a.billId, b.billId))
      .filter(({ billId }) => after === undefined || compareText(billId, after) > 0)
    return firstWithin(bills, most, ({ body }) => body.length)
  }

  const closeWindows = (tenantId: string, now: number) => {
    const due = windowsOf(rows, tenantId).filter((each) => each.closesAt <= now)
      .sort((a, b) => a.closesAt - b.closesAt)
      .slice(0, closeLimit)
    const closed = due.filter(({ closesAt, row }) => rows.closeWindow(tenantId, row, closesAt, now)).length
    return { closed, more: due.length > 0 }
  }

  return {
    accountsOf: (tenantId, client) => operate(() => [...rows.accountsOf(tenantId, client)]),
    // transactions are serialised, so no other one is changing bills
    hold: () => operate(() => undefined),
    covered: (tenantId, client, accounts) => operate(() => coveredOf(rows, tenantId, client, accounts)),
    insert: (tenantId, record) => operate(() => rows.putSubscription(tenantId, record)),
    addInFlight: (tenantId, id, bills) => operate(() => rows.addInFlight(tenantId, id, bills)),
    removeChanged: (tenantId, id) => operate(() => rows.removeChanged(tenantId, id)),
    find: (tenantId, client, id) => operate(() => stored(tenantId, own(tenantId, client, id))),
    findAny: (tenantId, id) => operate(() => stored(tenantId, rows.of(tenantId).subscriptions.get(id))),
    documents: (tenantId, ids) =>
      operate(() =>
        documentsIn(ids, (id) => {
          const row = rows.of(tenantId).subscriptions.get(id)
          return row?.cancelledAt === undefined ? row?.record.doc : undefined
        })
      ),
    deliveringTo: (tenantId, client, webhookUrl) =>
      operate(() =>
        rows.liveOf(tenantId, client)
          .filter(({ record }) => record.webhookUrl === webhookUrl)
          .map((row) => storedOf(tenantId, row))
      ),
    cancel: (tenantId, client, id) =>
      operate((now) => {
        const row = own(tenantId, client, id)
        if (row === undefined || row.cancelledAt !== undefined) return false
        rows.cancel(tenantId, row, now)
        return true
      }),
    inFlight: (tenantId, client, id, range) => operate(() => inFlight(tenantId, client, id, range)),
    windowsWith: (tenantId, id, billIds) => operate(() => windowsWith(rows.of(tenantId).subscriptions.get(id), billIds)),
    windowsDue: (range) => operate((now) => windowsDue(rows, range, now)),
    closeWindows: (tenantId) => operate((now) => closeWindows(tenantId, now))
  }
})

const coveredOf = (
  rows: FreightChargeRows,
  tenantId: string,
  client: string,
  accounts: ReadonlyArray<string> | undefined
): Option.Option<CoveredAccount> => {
  const held = [...rows.accountsOf(tenantId, client)].flatMap((grant) => accountOfGrant(grant) ?? [])
  const found = rows.liveOf(tenantId, client).flatMap(({ record }) => {
    // a subscription to all accounts of its client names none itself
    const accountId = accounts === undefined ? (record.accounts ?? held)[0] ?? "" : accounts.find((account) => covers(record, account))
    return accountId === undefined ? [] : [{ accountId, subscriptionId: record.id }]
  })
  return Option.fromUndefinedOr(found[0])
}

const windowsWith = (row: ChargeSubscriptionRow | undefined, billIds: ReadonlyArray<string>) => {
  const open = [...row?.windows ?? []].filter(([, collected]) => billIds.some((billId) => collected.has(billId))).map(([closesAt]) => closesAt)
  return {
    closesAt: open.length === 0 ? undefined : Math.min(...open),
    orderIds: [...row?.closed ?? []].filter(([, held]) => billIds.some((billId) => held.has(billId))).map(([orderId]) => orderId)
  }
}

const windowsOf = (rows: FreightChargeRows, tenantId: string) =>
  [...rows.of(tenantId).subscriptions.values()].flatMap((row) => [...row.windows.keys()].map((closesAt) => ({ row, closesAt })))

const windowsDue = (rows: FreightChargeRows, { after = "", limit }: ListRange, now: number) => {
  const due: Array<string> = []
  let next = Infinity
  for (const tenantId of rows.byTenant.keys()) {
    const closings = windowsOf(rows, tenantId).map((each) => each.closesAt)
    const first = Math.min(...closings)
    if (first <= now && compareText(tenantId, after) > 0) due.push(tenantId)
    next = Math.min(next, ...closings.filter((at) => at > now))
  }
  return { tenantIds: due.sort(compareText).slice(0, limit), nextDueInMillis: next === Infinity ? undefined : next - now }
}
