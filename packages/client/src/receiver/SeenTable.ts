/** The table of handled ids in Postgres, and its statements. */
import { seenKeyOf } from "./SeenKey.ts"
import type { ClaimAnswer } from "./SeenStore.ts"

/** Rows, or an object with rows, as the libraries for Postgres return them. */
export type PostgresRows = ReadonlyArray<unknown> | { readonly rows: ReadonlyArray<unknown> }

/** Sends a statement with `$1` placeholders; all values are text. */
export type PostgresQuery = (text: string, values: Array<string>) => PromiseLike<PostgresRows>

const defaultTable = "waybill_seen"

/**
 * SQL that creates the table, for your migrations. `table` may have a schema: `hooks.seen`. Pass the same name to the
 * store.
 */
export const seenTableSql = (table: string = defaultTable): string => {
  const index = quoted(`${table.split(".").at(-1)}_expires_at`)
  return `CREATE TABLE IF NOT EXISTS ${quoted(table)} (
  id text PRIMARY KEY,
  -- the claim in progress; null once the id is handled
  token text,
  -- ahead of the clock once the clock was set back
  claimed_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL
);
CREATE INDEX IF NOT EXISTS ${index} ON ${quoted(table)} (expires_at);
`
}

const quoted = (name: string): string => {
  if (!/^[a-z_][a-z0-9_]{0,62}(\.[a-z_][a-z0-9_]{0,62})?$/.test(name)) {
    throw new TypeError(`"${name}" is not a table name of lower-case letters, digits and _, with a schema or without, each up to 63 characters.`)
  }
  return name.split(".").map((part) => `"${part}"`).join(".")
}

/** A lease on ids, or with `token: null` ids that are handled when the transaction commits. */
interface TableClaim {
  readonly token: string | null
  readonly seconds: number
}

/**
 * Statements on one table. Each takes its rows in the order of their ids, so that two of them never wait for each other
 * in a circle.
 */
export class SeenTable {
  readonly #table: string

  constructor(table: string = defaultTable) {
    this.#table = quoted(table)
  }

  /**
   * Claims the free ids. Waits for transactions that hold one of them, except for the first id in a transaction: if
   * another transaction has claimed that one, all ids are `busy` at once.
   *
   * A claim from before the database's clock was set back lasts once more as long as it was granted for, counted from the
   * first call that asks for its id: its receiver may still be handling the id.
   */
  async claim(query: PostgresQuery, ids: ReadonlyArray<string>, claim: TableClaim): Promise<ReadonlyArray<ClaimAnswer>> {
    const keys = await Promise.all(ids.map(seenKeyOf))
    const claimed = new Set(rowsOf(await query(...this.#claimStatement(keys, claim))).flatMap(({ id, mine }) => mine === "yes" ? [id] : []))
    if (keys.every((key) => claimed.has(key))) return keys.map(() => "claimed")
    // A later statement: it sees what the first one had to wait for.
    const handled = rowsOf(await query(`SELECT id FROM ${this.#table} WHERE id IN (${listed("$1")}) AND token IS NULL`, [JSON.stringify(keys)]))
    const seen = new Set(handled.map(({ id }) => id))
    return keys.map((key) => claimed.has(key) ? "claimed" : seen.has(key) ? "seen" : "busy")
  }

  async markSeen(query: PostgresQuery, ids: ReadonlyArray<string>, seconds: number): Promise<void> {
    await query(
      `INSERT INTO ${this.#table} (id, token, expires_at)
SELECT id, NULL, now() + ${interval(seconds)} FROM (${listed("$1")}) AS handled (id) ORDER BY id
ON CONFLICT (id) DO UPDATE SET token = NULL, claimed_at = now(), expires_at = excluded.expires_at`,
      [JSON.stringify(await Promise.all(ids.map(seenKeyOf)))]
    )
  }

  async release(query: PostgresQuery, ids: ReadonlyArray<string>, token: string): Promise<void> {
    await query(
      `WITH held AS (SELECT id FROM ${this.#table} WHERE id IN (${listed("$1")}) AND token = $2 ORDER BY id FOR UPDATE)
DELETE FROM ${this.#table} AS seen USING held WHERE seen.id = held.id`,
      [JSON.stringify(await Promise.all(ids.map(seenKeyOf))), token]
    )
  }

  /** Removes expired ids: more than were added, so that the table cannot grow without end, and never waits. */
  async removeExpired(query: PostgresQuery, added: number): Promise<void> {
    await query(
      `DELETE FROM ${this.#table} WHERE id = ANY (ARRAY(
  SELECT id FROM ${this.#table} WHERE expires_at <= now() ORDER BY expires_at LIMIT ${2 * added + 10} FOR UPDATE SKIP LOCKED
))`,
      []
    )
  }

  #claimStatement(keys: ReadonlyArray<string>, { seconds, token }: TableClaim): [text: string, values: Array<string>] {
    const list = JSON.stringify(keys)
    // The lock ends with the transaction. Without it, each attempt of a slow delivery would hold another connection.
    const unlocked = `(SELECT pg_try_advisory_xact_lock(hashtextextended($2, 0)))`
    const text = `INSERT INTO ${this.#table} AS seen (id, token, expires_at)
SELECT id, ${token === null ? "NULL" : "$2"}, now() + ${interval(seconds)} FROM (${listed("$1")}) AS wanted (id)${token === null ? ` WHERE ${unlocked}` : ""} ORDER BY id
ON CONFLICT (id) DO UPDATE SET claimed_at = now(),
  token = CASE WHEN ${free} THEN excluded.token ELSE seen.token END,
  expires_at = CASE WHEN ${free} THEN excluded.expires_at ELSE now() + (seen.expires_at - seen.claimed_at) END
WHERE ${free} OR seen.token IS NOT NULL AND seen.claimed_at > now() + interval '1 minute'
RETURNING id, CASE WHEN token IS NOT DISTINCT FROM ${token === null ? "NULL" : "$2"} THEN 'yes' ELSE 'no' END AS mine`
    return [text, [list, token ?? `${this.#table} ${keys[0]}`]]
  }
}

/** A row whose id may be claimed. */
const free = "(seen.expires_at <= now() OR seen.token = excluded.token)"

/** One row per distinct text of a JSON list. Every library passes text unchanged; lists and JSON each in its own way. */
const listed = (parameter: string): string => `SELECT DISTINCT json_array_elements_text(${parameter}::text::json)`

const interval = (seconds: number): string => {
  if (!Number.isFinite(seconds)) throw new RangeError("A duration in seconds is a finite number.")
  return `interval '${seconds} seconds'`
}

interface SeenRow {
  readonly id: string
  /** Of a claim: whether it was granted. */
  readonly mine?: "yes" | "no"
}

const rowsOf = (result: PostgresRows): ReadonlyArray<SeenRow> => ("rows" in result ? result.rows : result) as ReadonlyArray<SeenRow>
