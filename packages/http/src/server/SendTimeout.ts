/** Ends responses that are no longer read. Otherwise one would keep its memory, and its caller's share of it, for ever. */
import { type Clock, Effect, Stream } from "effect"
import { monotonicMillisUnsafe } from "@waybill/core"
import { HttpBody, HttpServerResponse } from "effect/http"

/**
 * How long a reader may take nothing. The buffers of the system show progress only when a third of them is free, which is up to 1.5 MB: so any
 * reader of 5 KB a second is served to the end.
 */
export const sendTimeoutMillis = 300_000

/**
 * Ends the connection of a streamed response when its next piece is not asked for in time. The time that the body itself takes for a piece does
 * not count. `onTimeout` runs before.
 */
export const withSendTimeout = (response: HttpServerResponse.HttpServerResponse, onTimeout: Effect.Effect<void>): HttpServerResponse.HttpServerResponse => {
  const { body } = response
  if (body._tag !== "Stream") return response
  const stream = Stream.transformPull(body.stream, (pull, scope) =>
    // the fiber that writes to the connection: it waits for the reader between two pulls, and a write that is interrupted closes the connection
    Effect.withFiber((writer) => Effect.clockWith((clock) => {
      let waitsSince: number | undefined
      const timeout = Effect.andThen(untilLate(clock, () => waitsSince), Effect.andThen(onTimeout, Effect.sync(() => writer.interruptUnsafe())))
      const timed = Effect.suspend(() => {
        waitsSince = undefined
        return Effect.tap(pull, () => Effect.sync(() => {
          waitsSince = monotonicMillisUnsafe(clock)
        }))
      })
      return Effect.as(Effect.forkIn(timeout, scope), timed)
    })))
  return HttpServerResponse.setBody(response, HttpBody.stream(stream, body.contentType, body.contentLength))
}

/** Ends when the same time has been `since` for long enough. */
const untilLate = (clock: Clock.Clock, since: () => number | undefined): Effect.Effect<void> => Effect.suspend(() => {
  const now = monotonicMillisUnsafe(clock)
  const left = (since() ?? now) + sendTimeoutMillis - now
  return left <= 0 ? Effect.void : Effect.andThen(Effect.sleep(left), untilLate(clock, since))
})
