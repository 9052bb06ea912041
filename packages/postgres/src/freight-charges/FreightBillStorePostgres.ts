/** Freight bills on Postgres. */
import { accountOfGrant, type BillChanges, type BillRow, type BillState, type ChargeViewer, FreightBillStore, StorageError } from "@waybill/core"
import { Effect, Layer } from "effect"
import { byteaArray, int4Array, textArray, timestamptzArray, uuidArray } from "../client/PgBulk.ts"
import { PgClient } from "../client/PgClient.ts"
import { WaybillSchema } from "../shared/Schema.ts"
import { arrayLiteral } from "../shared/ShipmentLocks.ts"
import * as statements from "./FreightBillSql.ts"

const billColumns = ["text", "int4", "text", "text[]", "text"] as const

export const layer = Layer.effect(
  FreightBillStore,
  Effect.gen(function*() {
    const sql = yield* PgClient
    const { quoted: schema } = yield* WaybillSchema

    const append = Effect.fnUntraced(function*(tenantId: string, { bills, notices, notifications, traceparent }: BillChanges) {
      const latest = [...new Map(bills.map((each) => [each.billId, each])).values()]
      if (latest.length > 0) {
        yield* sql.bulk(statements.putBills(schema), [
          tenantId,
          textArray(latest.map((each) => each.billId)),
          int4Array(latest.map((each) => each.version)),
          textArray(latest.map((each) => each.state)),
          textArray(latest.map((each) => arrayLiteral(each.accounts))),
          textArray(latest.map((each) => each.doc))
        ])
      }
      if (notices.length === 0) return
      const noticeIdOf = (at: number) => notices[at]!.noticeId
      const now = notifications.filter((each) => each.window === undefined)
      const later = notifications.filter((each) => each.window !== undefined)
      if (later.length > 0) {
        yield* sql.bulk(statements.lockSubscriptions(schema), [tenantId, uuidArray([...new Set(later.map((each) => each.subscriptionId))])], ["uuid"])
      }
      yield* sql.bulk(statements.storeNotices(schema), [
        tenantId,
        textArray(notices.map((each) => each.noticeId)),
        textArray(notices.map((each) => each.billId)),
        int4Array(notices.map((each) => each.version)),
        byteaArray(notices.map((each) => each.body)),
        traceparent ?? null,
        uuidArray(now.map((each) => each.subscriptionId)),
        textArray(now.map((each) => noticeIdOf(each.notice))),
        uuidArray(later.map((each) => each.subscriptionId)),
        textArray(later.map((each) => noticeIdOf(each.notice))),
        timestamptzArray(later.map((each) => each.window!.closesAt)),
        timestamptzArray(later.map((each) => each.window!.following)),
        textArray(notices.map((each) => arrayLiteral(each.accounts)))
      ])
    })

    const lock = (tenantId: string, billIds: ReadonlyArray<string>) =>
      Effect.map(
        sql.bulk(statements.lockBills(schema), [tenantId, textArray([...new Set(billIds)])], billColumns),
        (rows) => rows.map(billOf).filter((bill) => bill.version > 0)
      )

    const prune = Effect.fnUntraced(function*(tenantId: string, before: { readonly ended: number; readonly noticed: number }) {
      const [bills] = yield* sql.bulk(statements.pruneBills(schema), [tenantId, timestamptzArray([before.ended])], ["int8"])
      const [lists] = yield* sql.bulk(statements.pruneLists(schema), [tenantId, timestamptzArray([before.noticed])], ["int8"])
      const [windows] = yield* sql.bulk(statements.pruneWindows(schema), [tenantId, timestamptzArray([before.noticed])], ["int8"])
      const [notices] = yield* sql.bulk(statements.pruneNotices(schema), [tenantId, timestamptzArray([before.noticed])], ["int8"])
      return (bills![0] as number) + (lists![0] as number) + (windows![0] as number) + (notices![0] as number)
    })

    return FreightBillStore.of({
      lock: (tenantId, billIds) => StorageError.refail("FreightBillStore.lock")(lock(tenantId, billIds)),
      gate: (tenantId, accounts) =>
        sql.bulk(statements.sharedGate, [tenantId, textArray(accounts)], ["int8", "int8"]).pipe(
          Effect.map(([row]) => row![1] as number),
          StorageError.refail("FreightBillStore.gate")
        ),
      viewers: (tenantId, accounts) => {
        const held = [...new Set(accounts)]
        return sql.bulk(statements.viewers(schema), [tenantId, textArray(held), textArray(held.map((each) => accountOfGrant(each) ?? null))], ["uuid", "text", "text[]"]).pipe(
          Effect.map((rows) => rows.map(viewerOf)),
          StorageError.refail("FreightBillStore.viewers")
        )
      },
      append: (tenantId, changes) => sql.withTransaction(append(tenantId, changes)).pipe(StorageError.refail("FreightBillStore.append")),
      beginning: (tenantId, prefixes, limit) =>
        sql.bulk(statements.billsBeginning(schema), [tenantId, textArray(prefixes), limit], billColumns).pipe(
          Effect.map((rows) => rows.map(billOf)),
          StorageError.refail("FreightBillStore.beginning")
        ),
      open: (tenantId, accounts, { after = "", limit }) =>
        sql.bulk(statements.openBills(schema), [tenantId, textArray(accounts), after, limit], billColumns).pipe(
          Effect.map((rows) => rows.map(billOf)),
          StorageError.refail("FreightBillStore.open")
        ),
      prune: (tenantId, before) => StorageError.refail("FreightBillStore.prune")(prune(tenantId, before))
    })
  })
)

type Row = ReadonlyArray<unknown>

const billOf = ([billId, version, state, accounts, doc]: Row): BillRow => ({
  billId: billId as string,
  version: version as number,
  state: state as BillState,
  accounts: accounts as ReadonlyArray<string>,
  doc: doc as string
})

const viewerOf = ([subscriptionId, doc, accounts]: Row): ChargeViewer => ({
  subscriptionId: subscriptionId as string,
  doc: doc as string,
  accounts: accounts as ReadonlyArray<string>
})
