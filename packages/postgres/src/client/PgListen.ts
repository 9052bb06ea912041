/** Notifications of one channel, over a connection that reconnects automatically. */
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import pg from "pg"
import { connectionLost, sqlError } from "./PgErrors.ts"

/** Listens until the connection is lost: calls `ready` when it listens, and `onPayload` for each notification. */
export type Listener = (
  channel: string,
  ready: () => void,
  onPayload: (payload: string) => void
) => Effect.Effect<never, SqlError, Scope.Scope>

/**
 * The payloads sent to a channel from now on. The stream starts with an **empty string** and emits another after each
 * reconnect: notifications sent in between are lost, so the reader has to poll.
 *
 * The stream uses one connection; share the stream instead of listening twice. It fails only
 * on errors that a retry cannot fix, such as a refused password. A reader that is 4,096 payloads behind loses the
 * oldest. PgBouncer needs session pooling for it.
 *
 * @stability unstable
 */
export const listenOn = (listen: Listener, channel: string): Stream.Stream<string, SqlError> =>
  Stream.callback<string, SqlError>((queue) => {
    let failures = 0
    const ready = () => {
      failures = 0
      Queue.offerUnsafe(queue, "")
    }
    const session = Effect.scoped(listen(channel, ready, (payload) => Queue.offerUnsafe(queue, payload)))
    return session.pipe(
      Effect.catch((error) =>
        error.isRetryable
          ? Effect.flatMap(Effect.sync(() => backoffMs(failures++)), Effect.sleep)
          : Effect.fail(error)
      ),
      Effect.forever,
      Effect.catch((error) => Queue.fail(queue, error))
    )
  }, { bufferSize: 4096, strategy: "sliding" })

const backoffMs = (failures: number): number => Math.min(5000, 100 * 2 ** Math.min(failures, 10))

/** How often the connection is checked, and the timeout of the check. */
export interface Pulse {
  readonly every: Duration.Input
  readonly deadline: Duration.Input
}

export const defaultPulse: Pulse = { every: "30 seconds", deadline: "10 seconds" }

const lostListener = (cause: unknown) => connectionLost("The listening connection was lost", "listen", cause)
export const silentListener = () => connectionLost("The server does not answer the listening connection", "listen")

/** Hands on the notifications of a queue until it fails. */
export const received = (
  notifications: Queue.Dequeue<{ readonly payload: string }, SqlError>,
  onPayload: (payload: string) => void
): Effect.Effect<never, SqlError> =>
  Effect.forever(Effect.map(Queue.take(notifications), ({ payload }) => onPayload(payload))).pipe(
    Effect.mapError((error) => lostListener(error.reason.cause))
  )

/** Listens on a pg client outside of the host's pool. */
export const clientListener = (connect: () => pg.Client): Listener => (channel, ready, onPayload) =>
  Effect.gen(function*() {
    const lost = yield* Deferred.make<never, SqlError>()
    const client = yield* Effect.acquireRelease(
      Effect.sync(connect),
      // while pg is connecting, `end` may never complete; do not wait for it
      (client) => Effect.sync(() => void client.end().catch(() => {}))
    )
    const fail = (cause: unknown) => Deferred.doneUnsafe(lost, Effect.fail(lostListener(cause)))
    client.on("error", fail)
    client.on("end", () => fail(new Error("Connection terminated")))
    client.on("notification", (message) => onPayload(message.payload ?? ""))
    const inTime = <A>(answer: Effect.Effect<A, SqlError>) =>
      Effect.timeoutOrElse(answer, { duration: defaultPulse.deadline, orElse: () => Effect.fail(silentListener()) })
    yield* inTime(attempt(() => client.connect()))
    yield* inTime(attempt(() => client.query(`LISTEN ${pg.escapeIdentifier(channel)}`)))
    ready()
    const beat = Effect.forever(Effect.delay(inTime(attempt(() => client.query("SELECT 1"))), defaultPulse.every))
    return yield* Effect.raceFirst(Deferred.await(lost), beat)
  })

const attempt = <A>(send: () => Promise<A>): Effect.Effect<A, SqlError> =>
  Effect.tryPromise({ try: send, catch: (cause) => sqlError(cause, "listen") })
