/** What the stores of subscriptions have in common whose clients may change them. */
import { Effect, Option } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { isUuid } from "../access/AccessStorePostgres.ts"
import type { PgClient } from "../client/PgClient.ts"
import { bool, int8, optional } from "../client/SqlRow.ts"
import { type Statement, statement } from "../client/SqlStatement.ts"
import { makeDocuments } from "./SubscriptionDocuments.ts"
import {
  boundsRow,
  findSubscription,
  isBetweenNumbers,
  lockSubscription,
  pruneSubscriptions,
  replayBounds,
  replayedRow,
  type ReplayedLog,
  replayEntries,
  replayStepEnd,
  subscriptionOf,
  subscriptionRow
} from "./SubscriptionSql.ts"

/** `empty` removes what a removed subscription says; its row stays until it is pruned, so that removing again succeeds. */
export const makeEditable = (sql: PgClient, schema: Statement, table: Statement, empty: (tenantId: string, id: string) => Effect.Effect<void, SqlError>) => ({
  find: Effect.fnUntraced(function*(tenantId: string, client: string, id: string, forUpdate = false) {
    const [found] = isUuid(id) ? yield* sql.rows(subscriptionRow, findSubscription(schema, table, tenantId, client, id, forUpdate)) : []
    return Option.map(Option.fromUndefinedOr(found), subscriptionOf)
  }),
  remove: (tenantId: string, client: string, id: string) =>
    sql.withTransaction(Effect.gen(function*() {
      const [isDeleted] = isUuid(id) ? yield* sql.rows(bool, lockSubscription(table, tenantId, client, id)) : []
      if (isDeleted === undefined) return "unknown"
      if (isDeleted) return "gone"
      yield* empty(tenantId, id)
      return "removed"
    })),
  prune: (tenantId: string, removedBefore: number) => sql.one(int8, pruneSubscriptions(table, tenantId, removedBefore)),
  /** In bounded statements, each of them a transaction unless the caller has one open. */
  replay: Effect.fnUntraced(function*(tenantId: string, id: string, log: ReplayedLog) {
    if (!isUuid(id)) return Option.none<number>()
    const { first = 0, last = 0 } = yield* sql.one(boundsRow, replayBounds(log))
    let queued = 0
    for (let next = first; ;) {
      const end = (yield* sql.one(optional(int8), replayStepEnd(log, next, last))) ?? last
      const step = yield* sql.one(replayedRow, replayEntries(schema, table, tenantId, id, log.entries(isBetweenNumbers(log.number, next, end))))
      if (!step.isFound) return Option.none<number>()
      queued += step.queued
      if (end >= last) return Option.some(queued)
      next = end + 1
    }
  }),
  documents: makeDocuments(sql, table, statement`deleted_at IS NULL`)
})
