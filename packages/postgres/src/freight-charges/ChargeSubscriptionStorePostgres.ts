/** Charge subscriptions on Postgres, with their in-flight lists and the windows of hourly and daily frequencies. */
import {
  type ChargeSubscriptionRecord,
  ChargeSubscriptionStore,
  type InFlightBill,
  StorageError,
  type StoredChargeSubscription
} from "@waybill/core"
import { Effect, Layer, Option } from "effect"
import { isUuid } from "../access/AccessStorePostgres.ts"
import { byteaArray, textArray, timestamptzArray, uuidArray } from "../client/PgBulk.ts"
import { PgClient } from "../client/PgClient.ts"
import { WaybillSchema } from "../shared/Schema.ts"
import { statusOf } from "../shared/DestinationStatus.ts"
import { makeDocuments } from "../shared/SubscriptionDocuments.ts"
import { arrayLiteral } from "../shared/ShipmentLocks.ts"
import * as subscriptions from "./ChargeSubscriptionSql.ts"
import * as statements from "./FreightBillSql.ts"

const subscriptionColumns = ["uuid", "text", "text", "timestamptz", "timestamptz", "text", "text", "timestamptz", "text"] as const

export const layer = Layer.effect(
  ChargeSubscriptionStore,
  Effect.gen(function*() {
    const sql = yield* PgClient
    const { quoted: schema } = yield* WaybillSchema
    const select = subscriptions.selectSubscriptions(schema)

    const covered = Effect.fnUntraced(function*(tenantId: string, client: string, accounts: ReadonlyArray<string> | undefined) {
      yield* sql.bulk(
        "SELECT pg_advisory_xact_lock(hashtext('waybill charge client ' || $1), hashtext($2))::text AS held",
        [tenantId, client],
        ["text"]
      )
      const [row] = yield* sql.bulk(
        `SELECT coalesce(
                  (SELECT account FROM unnest(coalesce($3::text[], s.accounts)) AS account
                   WHERE s.accounts IS NULL OR account = ANY (s.accounts)
                   ORDER BY account LIMIT 1),
                  ''
                ) AS account
         FROM ${schema}.freight_charge_subscriptions AS s
         WHERE s.tenant_id = $1 AND s.client = $2 AND s.cancelled_at IS NULL
           AND ($3::text[] IS NULL OR s.accounts IS NULL OR s.accounts && $3::text[])
         ORDER BY s.id
         LIMIT 1`,
        [tenantId, client, accounts === undefined ? null : textArray(accounts)],
        ["text"]
      )
      return row === undefined ? Option.none<string>() : Option.some(row[0] as string)
    })

    const insert = (tenantId: string, record: ChargeSubscriptionRecord) =>
      sql.bulk(subscriptions.insertSubscription(schema), [
        tenantId,
        record.id,
        record.client,
        record.doc,
        record.webhookUrl,
        record.accounts === undefined ? null : textArray(record.accounts),
        timestamptzArray([record.createdAt]),
        textArray(record.accounts === undefined ? [`c:${record.client}`] : record.accounts.map((account) => `a:${account}`))
      ])

    const addInFlight = (tenantId: string, id: string, bills: ReadonlyArray<InFlightBill>) =>
      sql.bulk(subscriptions.addInFlight(schema), [
        tenantId,
        id,
        textArray(bills.map((each) => each.billId)),
        byteaArray(bills.map((each) => each.body)),
        textArray(bills.map((each) => arrayLiteral(each.accounts)))
      ])

    const find = (tenantId: string, condition: string, values: ReadonlyArray<string>) =>
      Effect.map(
        sql.bulk(`${select} AND ${condition} ORDER BY s.id`, [tenantId, ...values], subscriptionColumns),
        (rows) => rows.map(subscriptionOf)
      )

    const first = (rows: ReadonlyArray<StoredChargeSubscription>) => Option.fromUndefinedOr(rows[0])

    const cancel = Effect.fnUntraced(function*(tenantId: string, client: string, id: string) {
      yield* sql.bulk(statements.lockSubscriptions(schema), [tenantId, uuidArray([id])], ["uuid"])
      const [row] = yield* sql.bulk(subscriptions.cancelSubscription(schema), [tenantId, client, id], ["int8"])
      return row![0] === 1
    })

    /** More windows may be due, or other processes may have closed these: the next call handles that. This call holds its locks until its transaction ends. */
    const closeWindows = (tenantId: string) =>
      sql.withTransaction(Effect.gen(function*() {
        const due = yield* sql.bulk(statements.dueWindows(schema), [tenantId], ["uuid"])
        if (due.length === 0) return { closed: 0, more: false }
        const held = yield* sql.bulk(statements.lockDueWindows(schema), [tenantId, idsOf(due)], ["uuid"])
        if (held.length === 0) return { closed: 0, more: true }
        const [row] = yield* sql.bulk(statements.closeWindows(schema), [tenantId, idsOf(held)], ["int8"])
        return { closed: row![0] as number, more: true }
      }))

    const documents = makeDocuments(sql, `${schema}.freight_charge_subscriptions`, "cancelled_at IS NULL")

    return ChargeSubscriptionStore.of({
      accountsOf: (tenantId, client) =>
        Effect.andThen(
          sql.bulk(statements.holdAccess(schema), [tenantId, client]),
          sql.bulk(`SELECT DISTINCT account FROM ${schema}.client_accounts WHERE tenant_id = $1 AND client = $2`, [tenantId, client], ["text"])
        ).pipe(
          Effect.map((rows) => rows.map(([account]) => account as string)),
          StorageError.refail("ChargeSubscriptionStore.accountsOf")
        ),
      hold: (tenantId, accounts) =>
        sql.bulk(statements.closedGate, [tenantId, textArray(accounts)], ["int8", "int8"]).pipe(
          Effect.asVoid,
          StorageError.refail("ChargeSubscriptionStore.hold")
        ),
      covered: (tenantId, client, accounts) => StorageError.refail("ChargeSubscriptionStore.covered")(covered(tenantId, client, accounts)),
      insert: (tenantId, record) => insert(tenantId, record).pipe(Effect.asVoid, StorageError.refail("ChargeSubscriptionStore.insert")),
      addInFlight: (tenantId, id, bills) =>
        addInFlight(tenantId, id, bills).pipe(Effect.asVoid, StorageError.refail("ChargeSubscriptionStore.addInFlight")),
      find: (tenantId, client, id) =>
        !isUuid(id) ? Effect.succeedNone : find(tenantId, "s.client = $2 AND s.id = $3::uuid", [client, id]).pipe(
          Effect.map(first),
          StorageError.refail("ChargeSubscriptionStore.find")
        ),
      findAny: (tenantId, id) =>
        !isUuid(id) ? Effect.succeedNone : find(tenantId, "s.id = $2::uuid", [id]).pipe(
          Effect.map(first),
          StorageError.refail("ChargeSubscriptionStore.findAny")
        ),
      documents: (tenantId, ids) => StorageError.refail("ChargeSubscriptionStore.documents")(documents(tenantId, ids)),
      deliveringTo: (tenantId, client, webhookUrl) =>
        find(tenantId, "s.client = $2 AND s.webhook_url = $3 AND s.cancelled_at IS NULL", [client, webhookUrl]).pipe(
          StorageError.refail("ChargeSubscriptionStore.deliveringTo")
        ),
      cancel: (tenantId, client, id) =>
        !isUuid(id) ? Effect.succeed(false) : sql.withTransaction(cancel(tenantId, client, id)).pipe(StorageError.refail("ChargeSubscriptionStore.cancel")),
      inFlight: (tenantId, client, id, { after = "", limit }) =>
        !isUuid(id) ? Effect.succeed([]) : sql.bulk(subscriptions.inFlight(schema), [tenantId, client, id, after, limit], ["text", "bytea"]).pipe(
          Effect.map((rows) => rows.map(([billId, body]) => ({ billId: billId as string, body: body as Uint8Array }))),
          StorageError.refail("ChargeSubscriptionStore.inFlight")
        ),
      windowsWith: (tenantId, id, billIds) =>
        !isUuid(id) ? Effect.succeed({ closesAt: undefined, orderIds: [] }) : sql.bulk(
          statements.windowsWith(schema),
          [tenantId, id, textArray(billIds)],
          ["timestamptz", "text[]"]
        ).pipe(
          Effect.map(([row]) => ({ closesAt: (row![0] as number | null) ?? undefined, orderIds: row![1] as ReadonlyArray<string> })),
          StorageError.refail("ChargeSubscriptionStore.windowsWith")
        ),
      windowsDue: (limit) =>
        Effect.gen(function*() {
          // in this order: a window that becomes due between the two is found twice, never missed
          const [next] = yield* sql.bulk(statements.nextClosing(schema), [], ["float8"])
          const rows = yield* sql.bulk(statements.windowsDue(schema), [limit], ["text", "timestamptz"])
          const millis = next?.[0] as number | null | undefined
          return {
            tenantIds: rows.map(([tenantId]) => tenantId as string),
            nextDueInMillis: millis === null || millis === undefined ? undefined : Math.max(1, Math.ceil(millis))
          }
        }).pipe(StorageError.refail("ChargeSubscriptionStore.windowsDue")),
      closeWindows: (tenantId) => closeWindows(tenantId).pipe(StorageError.refail("ChargeSubscriptionStore.closeWindows"))
    })
  })
)

const idsOf = (rows: ReadonlyArray<ReadonlyArray<unknown>>) => uuidArray(rows.map(([id]) => id as string))

const subscriptionOf = ([id, client, doc, createdAt, cancelledAt, ...destination]: ReadonlyArray<unknown>): StoredChargeSubscription => ({
  id: id as string,
  client: client as string,
  doc: doc as string,
  createdAt: createdAt as number,
  cancelledAt: (cancelledAt as number | null) ?? undefined,
  destination: cancelledAt !== null || destination[0] === null ? undefined : statusOf(destination)
})
