/** Exports traces and metrics to an OTLP collector. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { ConfigProvider, Effect, Layer, Option, References, Tracer } from "effect"
import { HttpClient } from "effect/http"
import { OtlpMetrics, OtlpSerialization, OtlpTracer } from "effect/observability"
import { randomUUID } from "node:crypto"
import { clauseOf } from "../ErrorMessage.ts"
import { withConventions, withoutOk } from "./SpanConventions.ts"

/**
 * With an endpoint, the standard `OTEL_` variables configure the export. Without one, tracing is off, which saves its
 * cost per request and attempt.
 */
export const telemetryLayer = (options: { readonly enabled: boolean; readonly version: string }): Layer.Layer<never> => {
  if (!options.enabled) return Layer.succeed(References.TracerEnabled, false)
  const given = process.env["OTEL_RESOURCE_ATTRIBUTES"] ?? ""
  const resource = {
    serviceVersion: options.version,
    attributes: given.includes("service.instance.id=") ? {} : { "service.instance.id": randomUUID() }
  }
  const tracer = Layer.effect(Tracer.Tracer, Effect.map(Tracer.Tracer, conventional)).pipe(
    Layer.provide(OtlpTracer.layerFromConfig({ resource }))
  )
  // Defaults as OpenTelemetry defines them; Effect would export nothing. A name among the resource attributes must not be hidden by ours.
  const defaults = {
    OTEL_TRACES_EXPORTER: "otlp",
    OTEL_METRICS_EXPORTER: "otlp",
    ...(given.includes("service.name=") ? {} : { OTEL_SERVICE_NAME: "waybill" })
  }
  return Layer.mergeAll(tracer, OtlpMetrics.layerFromConfig({ resource })).pipe(
    Layer.provide(ConfigProvider.layerAdd(ConfigProvider.fromEnvRecord(defaults))),
    Layer.provide(serialization),
    Layer.provide(reporting),
    Layer.provide(NodeHttpClient.layerUndici),
    Layer.orDie
  )
}

/** Logs when a collector begins to refuse what it gets, or to be away, and when it accepts again. The exporter itself says so at debug only. */
const reporting = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(HttpClient.HttpClient, (client) => {
    const failing = new Set<string>()
    return HttpClient.transform(client, (sending, request) => {
      const { host, pathname } = new URL(request.url)
      const place = `${host}${pathname}`
      const failed = (why: string) =>
        Effect.suspend(() => {
          if (failing.has(place)) return Effect.void
          failing.add(place)
          return Effect.logWarning(`Telemetry not exported to ${place}: ${why}. Check the collector and OTEL_EXPORTER_OTLP_ENDPOINT. Requests and deliveries go on; what is not exported is lost.`)
        })
      const accepted = Effect.suspend(() => failing.delete(place) ? Effect.logInfo(`Telemetry exported to ${place} again.`) : Effect.void)
      return sending.pipe(
        Effect.tap(({ status }) => status < 300 ? accepted : failed(`it answered ${status}`)),
        Effect.tapError((error) => failed(clauseOf(error.reason.cause ?? error)))
      )
    })
  })
)

/** JSON, with the status of successful spans unset, as the semantic conventions have it: only applications set it to Ok. */
const serialization = Layer.effect(
  OtlpSerialization.OtlpSerialization,
  Effect.map(OtlpSerialization.OtlpSerialization, (json) => ({ ...json, traces: (data: OtlpTracer.TraceData) => json.traces(withoutOk(data)) }))
).pipe(Layer.provide(OtlpSerialization.layerJson))

/** Drops SQL spans without a parent, because the worker polls at least once per second, and gives spans the names and errors of the semantic conventions. */
const conventional = (tracer: Tracer.Tracer): Tracer.Tracer =>
  Tracer.make({
    span: (options) => {
      const isPoll = Option.isNone(options.parent) && isStatement(options)
      return withConventions(tracer.span(isPoll ? { ...options, sampled: false } : options))
    },
    context: tracer.context
  })

/** An attempt is a client span with a parent. */
const isStatement = ({ kind, name }: { readonly kind: Tracer.SpanKind; readonly name: string }): boolean => kind === "client" || name === "sql.transaction"
