/** Charge subscriptions on Postgres, with their in-flight lists and the windows of hourly and daily frequencies. */
import { ChargeSubscriptionStore, type StoredChargeSubscription } from "@waybill/core/freight-charges"
import { Effect, Option } from "effect"
import { isUuid } from "../access/AccessStorePostgres.ts"
import { type Decoded, float8, int8, nullable, text, uuid } from "../client/SqlRow.ts"
import { type Statement, statement } from "../client/SqlStatement.ts"
import { seesCommitted } from "../shared/Isolation.ts"
import { storeLayer } from "../shared/StoreLayer.ts"
import { makeDocuments } from "../subscriptions/SubscriptionDocuments.ts"
import * as statements from "./ChargeSubscriptionSql.ts"
import * as windows from "./ChargeWindowSql.ts"
import * as bills from "./FreightBillSql.ts"

/** How long a call waits for a lock. */
const lockMillis = 1_000

export const layer = storeLayer(ChargeSubscriptionStore, ({ lookup, schema, sql, takeLock }) => {
  const covered = Effect.fnUntraced(function*(tenantId: string, client: string, accounts: ReadonlyArray<string> | undefined) {
    yield* takeLock(tenantId, text, statements.lockClient(tenantId, client))
    const [found] = yield* sql.rows(statements.coveredRow, statements.coveredAccount(schema, tenantId, client, accounts))
    return Option.fromUndefinedOr(found)
  })

  const find = (statement: Statement) => Effect.map(sql.rows(statements.subscriptionRow, statement), (rows) => rows.map(subscriptionOf))

  const first = (rows: ReadonlyArray<StoredChargeSubscription>) => Option.fromUndefinedOr(rows[0])

  const cancel = Effect.fnUntraced(function*(tenantId: string, client: string, id: string) {
    yield* sql.run(bills.lockSubscriptions(schema, tenantId, [id]))
    return (yield* sql.one(int8, statements.cancelSubscription(schema, tenantId, client, id))) === 1
  })

  /** Closes the windows that `lock` locks, and returns their number; none if it locks nothing. */
  const closeLocked = (tenantId: string, lock: Statement) =>
    sql.withTransaction(Effect.gen(function*() {
      const locked = yield* sql.rows(uuid, lock)
      return locked.length === 0 ? Option.none<number>() : Option.some(yield* sql.one(int8, windows.closeWindows(schema, tenantId, locked)))
    }))

  let turn = 0

  const closeWindows = Effect.fnUntraced(function*(tenantId: string) {
    const closed = yield* closeLocked(tenantId, windows.lockDueWindows(schema, tenantId))
    if (Option.isSome(closed)) return { closed: closed.value, more: true }
    const due = yield* sql.rows(uuid, windows.dueWindows(schema, tenantId))
    if (due.length === 0) return { closed: 0, more: false }
    // a subscription to which callers publish without a pause is always locked
    const one = windows.lockDueWindow(schema, tenantId, due[turn++ % due.length]!)
    const late = Option.flatten(yield* Effect.timeoutOption(closeLocked(tenantId, one), lockMillis))
    return { closed: Option.getOrElse(late, () => 0), more: Option.isSome(late) }
  })

  const documents = makeDocuments(sql, statement`${schema}.freight_charge_subscriptions`, statement`cancelled_at IS NULL`)

  return {
    accountsOf: (tenantId, client) =>
      Effect.andThen(sql.run(bills.holdAccess(schema, tenantId, client)), sql.rows(text, statements.accountsOf(schema, tenantId, client))),
    hold: (tenantId, accounts) =>
      Effect.flatMap(takeLock(tenantId, bills.gateRow, bills.gate(tenantId, accounts, "exclusive")), ({ isolation }) => seesCommitted(isolation, bills.charges)),
    covered,
    insert: (tenantId, record) => sql.run(statements.insertSubscription(schema, tenantId, record)),
    addInFlight: (tenantId, id, inFlight) => sql.run(statements.addInFlight(schema, tenantId, id, inFlight)),
    removeChanged: (tenantId, id) => sql.run(statements.removeChanged(schema, tenantId, id)),
    find: (tenantId, client, id) => !isUuid(id) ? Effect.succeedNone : Effect.map(find(statements.findSubscription(schema, tenantId, client, id)), first),
    findAny: (tenantId, id) => !isUuid(id) ? Effect.succeedNone : Effect.map(find(statements.findAnySubscription(schema, tenantId, id)), first),
    documents,
    deliveringTo: (tenantId, client, webhookUrl) => find(statements.subscriptionsDeliveringTo(schema, tenantId, client, webhookUrl)),
    cancel: (tenantId, client, id) => !isUuid(id) ? Effect.succeed(false) : sql.withTransaction(cancel(tenantId, client, id)),
    inFlight: (tenantId, client, id, range) =>
      !isUuid(id) ? Effect.succeed([]) : lookup((sql) => sql.rows(statements.inFlightRow, statements.inFlight(schema, tenantId, client, id, range))),
    windowsWith: (tenantId, id, billIds) =>
      !isUuid(id)
        ? Effect.succeed({ closesAt: undefined, orderIds: [] })
        : sql.one(windows.windowsRow, windows.windowsWith(schema, tenantId, id, billIds)),
    windowsDue: (range) =>
      Effect.gen(function*() {
        // in this order: a window that becomes due between the two is found twice, never missed
        const millis = yield* sql.one(nullable(float8), windows.nextClosing(schema))
        return {
          tenantIds: yield* sql.rows(text, windows.windowsDue(schema, range)),
          nextDueInMillis: millis === null ? undefined : Math.max(1, Math.ceil(millis))
        }
      }),
    closeWindows
  }
})

const subscriptionOf = (
  { cancelledAt, client, createdAt, doc, id, pausedBy, reason, since, state }: Decoded<typeof statements.subscriptionRow>
): StoredChargeSubscription => ({
  id,
  client,
  doc,
  createdAt,
  cancelledAt,
  destination: cancelledAt !== undefined || state === undefined || since === undefined ? undefined : { state, reason, since, pausedBy }
})
