/** Optional spans and W3C trace context. A delivery attempt's span belongs to the trace that published the event. */
import { Context, Effect, type Fiber, Option, References, Tracer } from "effect"

const shape = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/

/** Effect's default tracer, which exports nothing. It is in place when no other tracer is configured. */
const noTracer = Context.get(Context.empty(), Tracer.Tracer)

const traceparentOf = Effect.map(Effect.option(Effect.currentParentSpan), (span) =>
  Option.isSome(span) && span.value.sampled ? `00-${span.value.traceId}-${span.value.spanId}-01` : undefined)

/** Whether spans of this fiber are exported. */
export const isTraced = (fiber: Fiber.Fiber<unknown, unknown>): boolean => fiber.getRef(References.TracerEnabled) && fiber.getRef(Tracer.Tracer) !== noTracer

/**
 * Adds a span when tracing is on, and costs nothing when it is off. Use it for calls that run thousands of times a second, where
 * `Effect.fn` would capture a stack trace for every call.
 */
export const traced = (name: string) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => isTraced(fiber) ? Effect.withSpan(effect, name) as Effect.Effect<A, E, R> : effect)

/** The `traceparent` of the current span. `undefined` outside a span, when the span is not sampled, and when tracing is off. */
export const currentTraceparent: Effect.Effect<string | undefined> = Effect.flatMap(Effect.tracer, (tracer) =>
  tracer === noTracer ? Effect.undefined : traceparentOf)

/** Parses a `traceparent` into a span of another process. */
export const spanFrom = (traceparent: string | undefined): Tracer.ExternalSpan | undefined => {
  const parts = traceparent === undefined ? null : shape.exec(traceparent)
  if (parts === null || /^0+$/.test(parts[1]!) || /^0+$/.test(parts[2]!)) return undefined
  return Tracer.externalSpan({ traceId: parts[1]!, spanId: parts[2]!, sampled: (Number.parseInt(parts[3]!, 16) & 1) === 1 })
}
