/** Exports traces and metrics to an OTLP collector. */
import { NodeHttpClient } from "@effect/platform-node"
import { ConfigProvider, Effect, Layer, Option, References, Tracer } from "effect"
import { OtlpMetrics, OtlpSerialization, OtlpTracer } from "effect/observability"

/**
 * With an endpoint, the standard `OTEL_` variables configure the export. Without one, tracing is off, which saves its
 * cost per request and attempt.
 */
export const telemetryLayer = (options: { readonly enabled: boolean; readonly version: string }): Layer.Layer<never> => {
  if (!options.enabled) return Layer.succeed(References.TracerEnabled, false)
  const resource = { serviceName: "waybill", serviceVersion: options.version }
  const tracer = Layer.effect(Tracer.Tracer, Effect.map(Tracer.Tracer, withoutPolls)).pipe(
    Layer.provide(OtlpTracer.layerFromConfig({ resource }))
  )
  return Layer.mergeAll(tracer, OtlpMetrics.layerFromConfig({ resource })).pipe(
    Layer.provide(ConfigProvider.layerAdd(exportersByDefault)),
    Layer.provide(OtlpSerialization.layerJson),
    Layer.provide(NodeHttpClient.layerUndici),
    Layer.orDie
  )
}

/** Defaults as OpenTelemetry defines them; Effect would export nothing. */
const exportersByDefault = ConfigProvider.fromEnvRecord({ OTEL_TRACES_EXPORTER: "otlp", OTEL_METRICS_EXPORTER: "otlp" })

/** Drops SQL spans without a parent: the worker polls at least once per second. */
const withoutPolls = (tracer: Tracer.Tracer): Tracer.Tracer =>
  Tracer.make({
    span: (options) => tracer.span(Option.isNone(options.parent) && isStatement(options) ? { ...options, sampled: false } : options),
    context: tracer.context
  })

const isStatement = ({ kind, name }: { readonly kind: Tracer.SpanKind; readonly name: string }): boolean => kind === "client" || name === "sql.transaction"
