/** Traces and metrics for an OTLP collector, or no tracing at all. */
import { NodeHttpClient } from "@effect/platform-node"
import { Layer, References } from "effect"
import { Effect, Option, Tracer } from "effect"
import { OtlpMetrics, OtlpSerialization, OtlpTracer } from "effect/observability"

/**
 * With an endpoint, the standard `OTEL_` variables decide the rest. Without one tracing is off, which saves its price on
 * every request and attempt.
 */
export const telemetryLayer = (options: { readonly enabled: boolean; readonly version: string }): Layer.Layer<never> => {
  if (!options.enabled) return Layer.succeed(References.TracerEnabled, false)
  const resource = { serviceName: "waybill", serviceVersion: options.version }
  const tracer = Layer.effect(Tracer.Tracer, Effect.map(Tracer.Tracer, withoutPolls)).pipe(
    Layer.provide(OtlpTracer.layerFromConfig({ resource }))
  )
  return Layer.mergeAll(tracer, OtlpMetrics.layerFromConfig({ resource })).pipe(
    Layer.provide(OtlpSerialization.layerJson),
    Layer.provide(NodeHttpClient.layerUndici),
    Layer.orDie
  )
}

/** A statement that belongs to no request and no attempt is the worker looking for work, once a second and more. */
const withoutPolls = (tracer: Tracer.Tracer): Tracer.Tracer =>
  Tracer.make({
    span: (options) => tracer.span(Option.isNone(options.parent) && options.name.startsWith("sql.") ? { ...options, sampled: false } : options),
    context: tracer.context
  })
