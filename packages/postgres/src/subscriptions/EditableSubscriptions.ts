/** What the stores of subscriptions have in common whose clients may change them. */
import { Effect, Option } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { isUuid } from "../access/AccessStorePostgres.ts"
import type { PgClient } from "../client/PgClient.ts"
import { bool, int8 } from "../client/SqlRow.ts"
import { type Statement, statement } from "../client/SqlStatement.ts"
import { makeDocuments } from "./SubscriptionDocuments.ts"
import { findSubscription, lockSubscription, pruneSubscriptions, replayedRow, replayEntries, subscriptionOf, subscriptionRow } from "./SubscriptionSql.ts"

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
  replay: Effect.fnUntraced(function*(tenantId: string, id: string, entries: Statement) {
    if (!isUuid(id)) return Option.none<number>()
    const { isFound, queued } = yield* sql.one(replayedRow, replayEntries(schema, table, tenantId, id, entries))
    return isFound ? Option.some(queued) : Option.none<number>()
  }),
  documents: makeDocuments(sql, table, statement`deleted_at IS NULL`)
})
