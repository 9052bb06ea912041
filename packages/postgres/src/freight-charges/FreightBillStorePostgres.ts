/** Freight bills on Postgres. */
import { accountOfGrant } from "@waybill/core"
import { type BillChanges, FreightBillStore } from "@waybill/core/freight-charges"
import { Effect } from "effect"
import { int8 } from "../client/SqlRow.ts"
import { seesCommitted } from "../shared/Isolation.ts"
import { storeLayer } from "../shared/StoreLayer.ts"
import * as statements from "./FreightBillSql.ts"
import { pruneNotices, pruneWindows } from "./FreightChargePayloads.ts"

export const layer = storeLayer(FreightBillStore, ({ lookup, schema, sql }) => {
  const append = Effect.fnUntraced(function*(tenantId: string, { bills, ...changes }: BillChanges) {
    const latest = [...new Map(bills.map((each) => [each.billId, each])).values()]
    if (latest.length > 0) yield* sql.run(statements.putBills(schema, tenantId, latest))
    if (changes.notices.length === 0) return
    const withWindows = new Set(changes.notifications.filter((each) => each.window !== undefined).map((each) => each.subscriptionId))
    if (withWindows.size > 0) yield* sql.run(statements.lockSubscriptions(schema, tenantId, [...withWindows]))
    yield* sql.run(statements.storeNotices(schema, tenantId, changes))
  })

  const lock = (tenantId: string, billIds: ReadonlyArray<string>) =>
    Effect.map(
      sql.rows(statements.billRow, statements.lockBills(schema, tenantId, [...new Set(billIds)])),
      (bills) => bills.filter((bill) => bill.version > 0)
    )

  const prune = Effect.fnUntraced(function*(tenantId: string, before: { readonly ended: number; readonly noticed: number }) {
    const bills = yield* sql.one(int8, statements.pruneBills(schema, tenantId, before.ended))
    const subscriptions = yield* sql.one(int8, statements.pruneSubscriptions(schema, tenantId, before.noticed))
    const windows = yield* sql.one(int8, pruneWindows(schema, tenantId, before.noticed))
    const notices = yield* sql.one(int8, pruneNotices(schema, tenantId, before.noticed))
    return bills + subscriptions + windows + notices
  })

  return {
    lock,
    gate: (tenantId, accounts) => Effect.flatMap(sql.one(statements.gateRow, statements.gate(tenantId, accounts, "shared")), ({ isolation, now }) =>
      Effect.as(seesCommitted(isolation, statements.charges), now)),
    viewers: (tenantId, accounts) => {
      const grants = [...new Set(accounts)].map((grant) => ({ grant, account: accountOfGrant(grant) }))
      return sql.rows(statements.viewerRow, statements.viewers(schema, tenantId, grants))
    },
    append: (tenantId, changes) => sql.withTransaction(append(tenantId, changes)),
    beginning: (tenantId, prefixes, limit) => lookup((sql) => sql.rows(statements.billRow, statements.billsBeginning(schema, tenantId, prefixes, limit))),
    open: (tenantId, accounts, range) => sql.rows(statements.billRow, statements.openBills(schema, tenantId, accounts, range)),
    prune
  }
})
