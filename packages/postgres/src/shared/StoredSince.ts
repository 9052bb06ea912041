/**
 * Rows that were committed between two looks, by the snapshots of both: numbers and times are assigned before the commit, so a row may appear below
 * one that was read. Rows are found by the time at which they were written, which has an index.
 */
import { StorageError, type StoredSince } from "@waybill/core"
import { Effect, Schema } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { type RowDecoder, row, text, timestamptz, type StatementRunner } from "../client/SqlRow.ts"
import { type Statement, statement } from "../client/SqlStatement.ts"
import type { Settled } from "./SettledOnCitus.ts"

/** Rows that `upto` sees and `seen` does not. */
export interface Between {
  readonly seen: string
  readonly upto: string
  /** No such row was written before. */
  readonly from: number
  /** The row at which the page before ended, as the area wrote it. */
  readonly after: ReadonlyArray<string> | undefined
  readonly limit: number
}

const Mark = Schema.Struct({ snapshot: Schema.String.check(Schema.isPattern(/^\d{1,20}:\d{1,20}:[\d,]*$/u)), at: Schema.Finite })

/**
 * `seen`: the rows of earlier pages. `marks`: earlier looks, oldest first; a transaction that began after one writes its rows later than that.
 * `upto` and `after`: of the pages that are not read to their end.
 */
const Position = Schema.Struct({
  seen: Mark,
  marks: Schema.Array(Mark),
  upto: Schema.optionalKey(Mark),
  after: Schema.optionalKey(Schema.Array(Schema.String))
})
type Position = typeof Position.Type

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Position))

const markRow = row({ snapshot: text, at: timestamptz })

/** Citus runs it on the coordinator, which assigns the ids of transactions. */
const look = statement`SELECT pg_current_snapshot()::text AS snapshot, statement_timestamp() AS at`

/** Clocks are set, and times are taken shortly before ids of transactions. */
const marginMillis = 60_000
/** A transaction that stays open for long costs more rows to compare, not more marks. */
const maxMarks = 60

/** The lowest id that is in progress, and the first that is not assigned. */
const bounds = (snapshot: string) => snapshot.split(":").slice(0, 2).map(BigInt) as [lowest: bigint, next: bigint]

/** 3 is the oldest ordinary id: what a snapshot of another cluster had seen has it now. */
const onlyReset = "4:4:"

const advanced = ({ marks, seen }: Position, upto: typeof Mark.Type): Position => {
  const all = [...marks, seen, upto]
  const [lowest] = bounds(upto.snapshot)
  const past = all.findLastIndex(({ snapshot }) => bounds(snapshot)[1] <= lowest)
  const kept = all.slice(Math.max(0, past), -1)
  return { seen: upto, marks: kept.length <= maxMarks ? kept : kept.filter((_, index) => index % 2 === 0) }
}

/** `read`: the area's rows, at most `limit`, in the order of `keyOf`. */
export const storedSince = <Row>(
  operation: string,
  { keyOf, read, rows, settled, sql }: {
    readonly sql: StatementRunner
    readonly settled: Settled
    readonly rows: RowDecoder<Row>
    readonly read: (between: Between) => Statement
    readonly keyOf: (row: Row) => ReadonlyArray<string>
  }
) =>
  Effect.fnUntraced(function*(tenantId: string, position: string | undefined, limit: number): Effect.fn.Return<StoredSince<Row>, SqlError | Schema.SchemaError> {
    const now = yield* sql.one(markRow, look)
    if (position === undefined) return { rows: [], position: JSON.stringify({ seen: now, marks: [] }), more: false }
    const known = yield* decode(position)
    const { after, seen, upto = now } = known
    if (seen.snapshot === upto.snapshot) return { rows: [], position, more: false }
    if (known.upto === undefined && !(yield* settled(tenantId))) return { rows: [], position, more: false }
    // a restore into another cluster starts the ids again
    const from = (known.marks[0] ?? seen).at - marginMillis
    const since = bounds(upto.snapshot)[1] < bounds(seen.snapshot)[1] ? onlyReset : seen.snapshot
    const found = yield* sql.rows(rows, read({ seen: since, upto: upto.snapshot, from, after, limit }))
    const last = found.at(-1)
    const next: Position = found.length === limit && last !== undefined ? { ...known, upto, after: keyOf(last) } : advanced(known, upto)
    return { rows: found, position: JSON.stringify(next), more: found.length === limit || upto !== now }
  }, StorageError.refail(operation))

/** Conditions for rows of `t` with the columns `xid` and `at`. */
export const isBetween = (xid: Statement, at: Statement, { from, seen, upto }: Between): Statement =>
  statement`${at} >= ${timestamptz(from)} AND pg_visible_in_snapshot(${xid}, ${upto}::pg_snapshot) AND NOT pg_visible_in_snapshot(${xid}, ${seen}::pg_snapshot)`
