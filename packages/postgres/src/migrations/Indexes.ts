/** Finds indexes that the migrations create and the database lacks: dropped by hand, or invalid after a build that failed. */
import { Effect } from "effect"
import { PgClient } from "../client/PgClient.ts"
import { bool, row, text } from "../client/SqlRow.ts"
import { statement } from "../client/SqlStatement.ts"
import { type Migration, quoteSchema } from "./Migrations.ts"

/** `repair`: the SQL that makes it while others write. */
export interface FaultyIndex {
  readonly name: string
  readonly fault: "missing" | "invalid"
  readonly repair: string
}

const indexRow = row({ name: text, valid: bool })

/** On a database that has all these migrations. */
export const faultyIndexes = Effect.fnUntraced(function*(name: string, migrations: ReadonlyArray<Migration>) {
  const sql = yield* PgClient
  const schema = quoteSchema(name)
  const there = new Map((yield* sql.rows(
    indexRow,
    statement`SELECT c.relname AS name, i.indisvalid AS valid FROM pg_catalog.pg_index AS i JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid WHERE c.relnamespace = to_regnamespace(${text(schema)})`
  )).map(({ name, valid }) => [name, valid]))
  return migrations.flatMap(({ up }) => Array.from(up(schema).matchAll(created), ({ groups }) => groups!)).flatMap(({ definition, index, unique = "" }): ReadonlyArray<FaultyIndex> => {
    const valid = there.get(index!)
    if (valid === true) return []
    return valid === undefined
      ? [{ name: index!, fault: "missing", repair: `CREATE ${unique}INDEX CONCURRENTLY ${index} ${definition};` }]
      : [{ name: index!, fault: "invalid", repair: `REINDEX INDEX CONCURRENTLY ${schema}.${index};` }]
  })
})

const created = /^CREATE (?<unique>UNIQUE )?INDEX (?:IF NOT EXISTS )?(?<index>\w+) (?<definition>ON [^;]+);/gm
