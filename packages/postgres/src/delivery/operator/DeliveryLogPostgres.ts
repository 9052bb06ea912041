/** Operators' reads of destinations and deliveries, and retries. */
import {
  type AttemptRecord,
  type DeliveryDetail,
  type DeliveryMatch,
  type DeliveryQuery,
  type DeliveryQueue,
  type DeliveryState,
  type DeliverySummary,
  type DestinationOverview,
  type EntryKeys,
  mostPassedOver,
  totalCount
} from "@waybill/core/delivery"
import { Effect, Option } from "effect"
import type { PgClient } from "../../client/PgClient.ts"
import { bool, type Decoded, int8 } from "../../client/SqlRow.ts"
import type { Statement } from "../../client/SqlStatement.ts"
import type { Operations } from "../../shared/StoreLayer.ts"
import * as lists from "./DeliveryListSql.ts"
import * as statements from "./DeliveryLogSql.ts"
import * as retries from "./DeliveryRetrySql.ts"
import { lockDestination, withPolicy } from "../DestinationSql.ts"
import type { PayloadSource } from "../PayloadSource.ts"

type Log = Pick<Operations<DeliveryQueue["Service"]>, "destinations" | "countMatching" | "list" | "count" | "carrying" | "find" | "retry" | "recover" | "retryDead" | "prune" | "depth">

export const makeDeliveryLog = (sql: PgClient, schema: Statement, sources: ReadonlyArray<PayloadSource>): Log => {

  /** The destinations to search one by one; `undefined` for a search of the tenant's deliveries in their order. */
  const destinationsOf = Effect.fnUntraced(function*(tenantId: string, match: DeliveryMatch, most: number) {
    if (!lists.isOfDestinations(match)) return undefined
    const chosen = yield* sql.one(lists.chosenRow, lists.chosenDestinations(schema, tenantId, match, most))
    return chosen.isFew ? chosen.destinations : undefined
  })

  const count = Effect.fnUntraced(function*(tenantId: string, match: DeliveryMatch) {
    const destinations = yield* destinationsOf(tenantId, match, lists.mostDestinations)
    const { count, ended } = yield* sql.one(lists.countedRow, lists.countDeliveries(schema, tenantId, match, destinations))
    return ended && count < totalCount ? undefined : count
  })

  const list = Effect.fnUntraced(function*(tenantId: string, query: DeliveryQuery) {
    const destinations = yield* destinationsOf(tenantId, query, Math.min(lists.mostDestinations, query.passOver ?? mostPassedOver))
    const rows = yield* sql.rows(lists.foundRow, lists.listDeliveries(schema, tenantId, query, destinations))
    // beyond the first end of a search, others may lie between
    const end = rows.findIndex(({ ends }) => ends)
    const known = end === -1 ? rows : rows.slice(0, end + 1)
    const deliveries = known.filter(({ matches }) => matches).map(foundOf)
    return { deliveries, lookedTo: rows[end]?.deliveryId, passedOver: Math.max(0, Math.max(0, ...known.map(({ looked }) => looked)) - deliveries.length) }
  })

  const carrying = Effect.fnUntraced(function*(
    tenantId: string,
    keys: ReadonlyArray<EntryKeys>,
    { limit, newest }: { readonly newest: number; readonly limit: number }
  ) {
    const [last, older] = yield* sql.rows(statements.boundRow, statements.newestBound(schema, tenantId, newest))
    const oldest = older === undefined ? statements.firstIdAt(0) : last!.deliveryId
    const rows = yield* sql.rows(statements.carryingRow, statements.carryingDeliveries(schema, tenantId, keys, { oldest, limit }))
    return {
      deliveries: rows.map(({ source, ...summary }) => ({ ...summaryOf(summary), source })),
      since: older === undefined ? undefined : last!.sentAt
    }
  })

  const retry = Effect.fnUntraced(function*(tenantId: string, deliveryId: string) {
    yield* sql.run(retries.lockDestinationOf(schema, tenantId, deliveryId))
    const [retried] = yield* sql.rows(retries.retriedRow, retries.lockRetried(schema, tenantId, deliveryId, sources))
    if (retried === undefined) return (yield* sql.one(bool, retries.isSending(schema, tenantId, deliveryId))) ? Option.some<DeliveryState>("sending") : Option.none<DeliveryState>()
    if (retried.whole) yield* sql.run(retries.retryDelivery(schema, tenantId, deliveryId))
    return Option.some(retried.whole ? retried.state : "cancelled")
  }, sql.withTransaction)

  /** In steps, each of them a transaction unless the caller has one open. What dies again meanwhile is before the next step. */
  const recover = Effect.fnUntraced(function*(tenantId: string, destinationId: string, since: number) {
    let recovered = 0
    for (let after: string | undefined = statements.firstIdAt(0); after !== undefined;) {
      const step: Decoded<typeof retries.recoveredRow> = yield* sql.withTransaction(Effect.andThen(
        sql.run(lockDestination(schema, tenantId, destinationId)),
        sql.one(retries.recoveredRow, retries.recoverDeliveries(schema, tenantId, destinationId, since, after))
      ))
      recovered += step.recovered
      after = step.last
    }
    return recovered
  })

  const prune = Effect.fnUntraced(function*(tenantId: string, before: number) {
    const deliveries = yield* sql.one(int8, statements.pruneDeliveries(schema, tenantId, before))
    return deliveries > 0 ? deliveries : yield* sql.one(int8, statements.pruneDestinations(schema, tenantId, before))
  })

  return {
    destinations: (tenantId, query) =>
      Effect.map(sql.rows(statements.overviewRow, statements.destinationOverviews(schema, tenantId, query)), (rows) => ({ now: rows[0]?.now ?? 0, destinations: rows.map(overviewOf) })),
    countMatching: (tenantId, match) => sql.one(int8, statements.countDestinations(schema, tenantId, match)),
    list,
    count,
    carrying,
    find: (tenantId, deliveryId) =>
      Effect.map(sql.rows(statements.detailRow, statements.findDelivery(schema, tenantId, deliveryId, sources)), ([found]) => Option.map(Option.fromUndefinedOr(found), detailOf)),
    retry,
    recover,
    retryDead: (tenantId, deliveryIds) =>
      sql.withTransaction(Effect.andThen(
        sql.run(retries.lockDestinationsOf(schema, tenantId, deliveryIds)),
        sql.one(int8, retries.retryDead(schema, tenantId, deliveryIds))
      )),
    prune,
    depth: sql.one(statements.depthRow, statements.depth(schema))
  }
}

const overviewOf = (read: Decoded<typeof statements.overviewRow>): DestinationOverview => {
  const { breakerFailures, breakerOpenUntil, lastAttempt, now: _, pausedBy, state, stateReason, stateSince, ...overview } = withPolicy(read)
  return {
    ...overview,
    status: { state, reason: stateReason, since: stateSince, pausedBy },
    breaker: { failures: breakerFailures, openUntil: breakerOpenUntil },
    lastAttempt: lastAttempt === undefined ? undefined : JSON.parse(lastAttempt) as AttemptRecord
  }
}

const summaryOf = ({ attempts, sentAt, ...delivery }: Decoded<typeof statements.summaryRow>): DeliverySummary => ({
  ...delivery,
  createdAt: sentAt,
  attempts: attempts.map((record): AttemptRecord => JSON.parse(record))
})

const foundOf = ({ ends: _ends, looked: _looked, matches: _matches, ...delivery }: Decoded<typeof lists.foundRow>): DeliverySummary => summaryOf(delivery)

const detailOf = ({ body = new Uint8Array(), endpointUrl, envelopeClose, envelopeOpen, ...delivery }: Decoded<typeof statements.detailRow>): DeliveryDetail => ({
  ...summaryOf(delivery),
  sentAt: delivery.sentAt,
  endpointUrl,
  envelope: { open: envelopeOpen, close: envelopeClose },
  body
})
