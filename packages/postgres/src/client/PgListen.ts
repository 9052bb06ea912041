/** Notifications of one channel, over a connection of their own that comes back by itself. */
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Scope from "effect/Scope"
import type { SqlError } from "effect/sql/SqlError"
import * as Stream from "effect/Stream"
import pg from "pg"
import { connectionLost, sqlError } from "./PgErrors.ts"

/**
 * The payloads sent to a channel from now on. An **empty string** comes first, and again each time the connection had to be
 * made anew: whatever was sent in between is lost, so an empty string means "look for yourself".
 *
 * The stream holds one connection outside the pool while it runs; share it rather than listening twice. It fails only
 * where trying again cannot help, such as a refused password. A reader that falls 4,096 payloads behind loses the
 * oldest. Behind PgBouncer it needs session pooling.
 *
 * @stability unstable
 */
export const listenOn = (
  connect: () => pg.Client,
  channel: string,
  pulse: Pulse = defaultPulse
): Stream.Stream<string, SqlError> =>
  Stream.callback<string, SqlError>((queue) => {
    let failures = 0
    const ready = () => {
      failures = 0
      Queue.offerUnsafe(queue, "")
    }
    const session = Effect.scoped(hear(connect, channel, pulse, ready, (payload) => Queue.offerUnsafe(queue, payload)))
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

/** How often the connection is asked whether it lives, and how long it has to answer. */
interface Pulse {
  readonly every: Duration.Input
  readonly deadline: Duration.Input
}

const defaultPulse: Pulse = { every: "30 seconds", deadline: "10 seconds" }

/** Listens until the connection is lost. */
const hear = (
  connect: () => pg.Client,
  channel: string,
  pulse: Pulse,
  ready: () => void,
  onPayload: (payload: string) => void
): Effect.Effect<never, SqlError, Scope.Scope> =>
  Effect.gen(function*() {
    const lost = yield* Deferred.make<never, SqlError>()
    const client = yield* Effect.acquireRelease(
      Effect.sync(connect),
      // while it is still connecting, pg's `end` may never be answered; nobody waits for it
      (client) => Effect.sync(() => void client.end().catch(() => {}))
    )
    const fail = (cause: unknown) =>
      Deferred.doneUnsafe(lost, Effect.fail(connectionLost("The listening connection was lost", "listen", cause)))
    client.on("error", fail)
    client.on("end", () => fail(new Error("Connection terminated")))
    client.on("notification", (message) => onPayload(message.payload ?? ""))
    const inTime = <A>(answer: Effect.Effect<A, SqlError>) =>
      Effect.timeoutOrElse(answer, {
        duration: pulse.deadline,
        orElse: () => Effect.fail(connectionLost("The server does not answer the listening connection", "listen"))
      })
    yield* inTime(attempt(() => client.connect()))
    yield* inTime(attempt(() => client.query(`LISTEN ${pg.escapeIdentifier(channel)}`)))
    ready()
    const beat = Effect.forever(Effect.delay(inTime(attempt(() => client.query("SELECT 1"))), pulse.every))
    return yield* Effect.raceFirst(Deferred.await(lost), beat)
  })

const attempt = <A>(send: () => Promise<A>): Effect.Effect<A, SqlError> =>
  Effect.tryPromise({ try: send, catch: (cause) => sqlError(cause, "listen") })
