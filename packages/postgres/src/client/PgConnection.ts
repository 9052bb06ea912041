/** One connection as Effect's SQL client uses it, over any driver. */
import * as Effect from "effect/Effect"
import type { Connection } from "effect/sql/SqlConnection"
import type { SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import type pg from "pg"
import type { BulkRunner, BulkValue } from "./PgBulk.ts"

/**
 * Effect's connection, plus the bulk path.
 *
 * @stability unstable
 */
export interface PgConnection extends Connection {
  readonly executeBulk: BulkRunner["bulk"]
  /** Ends a transaction, or begins or ends a savepoint. Effect makes these uninterruptible, so they have their own deadline. */
  readonly control: (text: string, deadlineMs: number) => Effect.Effect<PgResult, SqlError>
  /** The host application began this connection's transaction and ends it; Waybill never does. */
  readonly isHosted: boolean
  /** The connection cannot be used any more, and the server has rolled back its transaction. */
  readonly isLost: () => boolean
  /** Begins a transaction with the next statement. Missing if the host begins transactions. */
  readonly begin?: (text: string) => void
  /** The client of the host's pool, inside the open transaction; `undefined` where the host's code has no pg client to send statements on. */
  readonly hostClient: Effect.Effect<pg.ClientBase | undefined, SqlError>
}

/** The host has its own transaction object, or Waybill its own pool. */
export const noClient: PgConnection["hostClient"] = Effect.succeed(undefined)

/** How long a cancelled statement or a rollback may take before its connection is closed. */
export const cancelDeadlineMs = 2000

/** One statement, and the format of its rows. */
export interface PgStatement {
  readonly text: string
  readonly values: ReadonlyArray<unknown>
  /** Prepare it, if it is sent repeatedly. */
  readonly prepare: boolean
  /** Rows as arrays in column order, instead of objects. */
  readonly asArrays: boolean
  /** The result types of bulk statements. */
  readonly isBulk: boolean
  readonly deadlineMs: number | undefined
}

/** The result of a statement. */
export interface PgResult {
  readonly rows: ReadonlyArray<any>
  readonly command?: string
}

export type TransformRows = (<A extends object>(row: ReadonlyArray<A>) => ReadonlyArray<A>) | undefined

/**
 * A connection over a session of Waybill's own pool, or over a pg client of the host application. All its statements go through `run`.
 *
 * @stability unstable
 */
export abstract class PgWireConnection implements PgConnection {
  abstract readonly isHosted: boolean
  abstract readonly hostClient: PgConnection["hostClient"]
  abstract isLost(): boolean
  abstract run(statement: PgStatement): Effect.Effect<PgResult, SqlError>

  execute(text: string, values: ReadonlyArray<unknown>, transformRows: TransformRows) {
    return rowsOf(this.executeRaw(text, values), transformRows)
  }

  executeRaw(text: string, values: ReadonlyArray<unknown>) {
    return this.run({ text, values, prepare: true, asArrays: false, isBulk: false, deadlineMs: undefined })
  }

  /** Fetches all rows before it emits them, because there is no cursor. Read large tables page by page. */
  executeStream(text: string, values: ReadonlyArray<unknown>, transformRows: TransformRows) {
    return Stream.unwrap(Effect.map(this.execute(text, values, transformRows), (rows) => Stream.fromIterable(rows)))
  }

  executeValues(text: string, values: ReadonlyArray<unknown>) {
    return rowsOf(this.run({ text, values, prepare: true, asArrays: true, isBulk: false, deadlineMs: undefined }), undefined)
  }

  executeValuesUnprepared(text: string, values: ReadonlyArray<unknown>) {
    return rowsOf(this.run({ text, values, prepare: false, asArrays: true, isBulk: false, deadlineMs: undefined }), undefined)
  }

  executeUnprepared(text: string, values: ReadonlyArray<unknown>, transformRows: TransformRows) {
    return rowsOf(this.run({ text, values, prepare: false, asArrays: false, isBulk: false, deadlineMs: undefined }), transformRows)
  }

  executeBulk(text: string, values: ReadonlyArray<BulkValue>) {
    return rowsOf(this.run({ text, values, prepare: true, asArrays: true, isBulk: true, deadlineMs: undefined }), undefined)
  }

  /** COMMIT is sent all the time, and never fails to be planned. */
  control(text: string, deadlineMs: number) {
    return this.run({ text, values: [], prepare: text === "COMMIT", asArrays: false, isBulk: false, deadlineMs })
  }
}

const rowsOf = (
  result: Effect.Effect<PgResult, SqlError>,
  transformRows: TransformRows
): Effect.Effect<ReadonlyArray<any>, SqlError> =>
  Effect.map(result, ({ rows }) => transformRows === undefined ? rows : transformRows(rows))
