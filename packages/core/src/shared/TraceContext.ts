/** Spans where somebody traces, and W3C trace context, so that an attempt's span belongs to the trace that published the event. */
import { Context, Effect, type Fiber, Option, References, Tracer } from "effect"

const shape = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

/** Makes spans that go nowhere; it is there where no other tracer was given. */
const nobody = Context.get(Context.empty(), Tracer.Tracer)

const traceparentOf = Effect.map(
  Effect.option(Effect.currentParentSpan),
  Option.match({
    onNone: () => undefined,
    onSome: (span) => span.sampled ? `00-${span.traceId}-${span.spanId}-01` : undefined
  })
)

/** Whether the spans of this fiber go anywhere. */
export const isTraced = (fiber: Fiber.Fiber<unknown, unknown>): boolean => fiber.getRef(References.TracerEnabled) && fiber.getRef(Tracer.Tracer) !== nobody

/**
 * A span where somebody traces, and nothing at all where nobody does: for calls that come thousands of times a second. `Effect.fn`
 * takes a stack trace of every call.
 */
export const traced = (name: string) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => isTraced(fiber) ? Effect.withSpan(effect, name) as Effect.Effect<A, E, R> : effect)

/** The `traceparent` of the span we are in, or `undefined` outside of one, when it is not recorded, or when nobody traces. */
export const currentTraceparent: Effect.Effect<string | undefined> = Effect.flatMap(Effect.tracer, (tracer) =>
  tracer === nobody ? Effect.undefined : traceparentOf)

/** A span of another process, from its `traceparent`. */
export const spanFrom = (traceparent: string | undefined): Tracer.ExternalSpan | undefined => {
  const parts = traceparent === undefined ? null : shape.exec(traceparent)
  if (parts === null || /^0+$/.test(parts[1]!) || /^0+$/.test(parts[2]!)) return undefined
  return Tracer.externalSpan({ traceId: parts[1]!, spanId: parts[2]!, sampled: (Number.parseInt(parts[3]!, 16) & 1) === 1 })
}
