/**
 * Parts of a session of `@effect/sql-pg` that its types do not show. The package is pinned to one version; the tests of the
 * client fail if another version changes these parts.
 */
import type { PgConnection } from "@effect/sql-pg/PgConnection"
import { type BackendMessage, encodeBind, encodeExecute, encodeParse, encodeSync } from "@effect/sql-pg/PgProtocol"
import type * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { SqlError } from "effect/sql/SqlError"
import type { Duplex } from "node:stream"

export type SessionMessage = BackendMessage<unknown>

/** Decodes `size` bytes at `at`; -1: NULL. */
export type FieldReader = (bytes: Uint8Array, at: number, size: number, column: number) => unknown

export interface SessionParser {
  readField: FieldReader | undefined
  /** Passes on each message that this chunk completes. */
  readonly pushEach: (chunk: Uint8Array, onMessage: (message: SessionMessage) => void) => void
}

export interface PreparedStatements {
  get: (text: string, parameterTypes: ReadonlyArray<number>) => unknown
}

/** Rows are in one of the two forms. */
export interface SessionAnswer {
  readonly result: { readonly command: string; readonly rows: ReadonlyArray<Record<string, unknown>> }
  readonly values: ReadonlyArray<ReadonlyArray<unknown>>
}

export interface SessionInternals {
  /** Receives each message of the server. */
  dispatch: (message: SessionMessage) => void
  /** Makes the bytes of one statement, up to its Sync message. */
  encodeQuery: (text: string, values: ReadonlyArray<unknown>, cache: unknown) => { readonly frame: Uint8Array }
  /** The statements that the server has prepared, by a key of their text and parameter types. */
  readonly prepared: PreparedStatements | undefined
  /** Runs a statement of the session's only user, which the package's `query` would wait to be. */
  readonly cycleOwned: (
    text: string,
    values: ReadonlyArray<unknown>,
    asObjects: boolean,
    cache: PreparedStatements | undefined
  ) => Effect.Effect<SessionAnswer, SqlError>
  /** Sends a cancel request over another connection. */
  cancel: Effect.Effect<void>
  readonly session: { readonly socket: Duplex; parser: SessionParser }
  readonly "~@effect/sql-pg/PgConnection/internals": {
    /** The error that ended the session. */
    readonly deadError: () => SqlError | undefined
    /** Called when the session must not be used again. */
    readonly retireHooks: Set<() => void>
  }
}

export const sessionInternals = (connection: PgConnection): SessionInternals => connection as unknown as SessionInternals

/** Messages to send before those of a statement, and the number of responses to them. */
export interface AheadFrame {
  readonly frame: Uint8Array
  readonly answers: number
}

const messagesOf = (text: string): Uint8Array =>
  Buffer.concat([
    Result.getOrThrow(encodeParse({ name: "", query: text, parameterTypes: [] })),
    Result.getOrThrow(encodeBind({ portal: "", statement: "", parameters: [] })),
    encodeExecute({ portal: "", maxRows: 0 })
  ])

/** Almost all transactions begin in the same way. */
let lastBegin: { readonly text: string; readonly frame: Uint8Array } = { text: "", frame: new Uint8Array() }

/** The statement that follows is part of the transaction. */
export const beginFrame = (text: string): AheadFrame => {
  if (lastBegin.text !== text) lastBegin = { text, frame: messagesOf(text) }
  return { frame: lastBegin.frame, answers: 3 }
}

/** Is answered without any work. */
export const syncFrame: AheadFrame = { frame: encodeSync(), answers: 1 }

/** Ends with a Sync message: it is a transaction of its own, so that the isolation level of the next one can still be set. */
export const discardPlans: AheadFrame = { frame: Buffer.concat([messagesOf("DISCARD PLANS"), encodeSync()]), answers: 4 }
