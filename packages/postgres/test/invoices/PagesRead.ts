/** What the database reads for a statement. */
import { Effect } from "effect"
import { PgClient } from "../../src/index.ts"
import type { Statement } from "../../src/client/SqlStatement.ts"

/** The 8 KiB pages. */
export const pagesRead = Effect.fnUntraced(function*({ text, values }: Statement) {
  const sql = yield* PgClient.PgClient
  const [row] = yield* sql.unsafe<{ readonly "QUERY PLAN": ReadonlyArray<{ readonly Plan: Readonly<Record<string, number>> }> }>(
    `EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`,
    values
  ).unprepared
  const { Plan } = row!["QUERY PLAN"][0]!
  return Plan["Shared Hit Blocks"]! + Plan["Shared Read Blocks"]!
})
