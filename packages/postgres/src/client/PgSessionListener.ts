/** Notifications over a session of Waybill's own. Apart from the other listeners, because declarations reach those. */
import * as SqlPg from "@effect/sql-pg/PgConnection"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import { sqlPgError } from "./PgErrors.ts"
import { defaultPulse, type Listener, type Pulse, received, silentListener } from "./PgListen.ts"
import { sessionInternals } from "./SqlPgInternals.ts"

/** Listens on a session of `@effect/sql-pg` outside of the pool. */
export const sessionListener = (options: Effect.Effect<SqlPg.Config, SqlError>, pulse: Pulse = defaultPulse): Listener => (channel, ready, onPayload) =>
  Effect.gen(function*() {
    const connection = yield* Effect.mapError(Effect.flatMap(options, SqlPg.make), (error) => sqlPgError(error, "listen"))
    const { socket } = sessionInternals(connection).session
    let isSilent = false
    // an interrupted statement would wait for its answer, so the connection is closed instead
    const inTime = <A, R>(asking: Effect.Effect<A, SqlError, R>) =>
      Effect.suspend(() => {
        const timer = setTimeout(() => {
          isSilent = true
          socket.destroy()
        }, Duration.toMillis(pulse.deadline))
        return Effect.ensuring(asking, Effect.sync(() => clearTimeout(timer)))
      }).pipe(Effect.mapError((error) => isSilent ? silentListener() : sqlPgError(error, "listen")))
    const pinned = yield* connection.pin
    const notifications = yield* inTime(pinned.listen(channel))
    yield* Effect.addFinalizer(() => Effect.sync(() => socket.destroy()))
    ready()
    const beat = Effect.forever(Effect.delay(inTime(pinned.query("SELECT 1")), pulse.every))
    return yield* Effect.raceFirst(Effect.mapError(received(notifications, onPayload), (error) => isSilent ? silentListener() : error), beat)
  })
