/** Exports traces and metrics to an OTLP collector. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Cause, Config, ConfigProvider, Effect, Layer, Option, References, Schedule, Tracer } from "effect"
import { HttpClient, HttpClientError, HttpClientResponse } from "effect/http"
import { OtlpMetrics, OtlpSerialization, OtlpTracer } from "effect/observability"
import { randomUUID } from "node:crypto"
import { clauseOf } from "../ErrorMessage.ts"
import { ConfigInvalid } from "../config/ServerConfig.ts"
import { withConventions, withoutOk } from "./SpanConventions.ts"

/**
 * With an endpoint, the standard `OTEL_` variables configure the export. Without one, tracing is off, which saves its
 * cost per request and attempt.
 */
export const telemetryLayer = (options: { readonly enabled: boolean; readonly version: string }): Layer.Layer<never, ConfigInvalid> => {
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
    Layer.catchCause((cause) => {
      const error = Cause.squash(cause)
      return Layer.effectDiscard(error instanceof Config.ConfigError ? Effect.fail(invalid(error)) : Effect.die(error))
    })
  )
}

/** Names each variable without its value: the headers have credentials of the collector. */
const invalid = ({ cause }: Config.ConfigError): ConfigInvalid => {
  const expected = new Map([...cause.message.matchAll(/^(.*?)(?:, got .*)?\n +at \["(OTEL_[A-Z_]+)"\]/gm)].map(([, problem = "", variable = ""]) => [variable, problem]))
  return new ConfigInvalid({ faults: Array.from(expected, ([variable, problem]) => ({ variable, problem: `cannot be used. ${problem}. OpenTelemetry's documentation has the values` })) })
}

/** Batches of one signal that a process holds for a slow collector, each of a thousand spans at most. */
const mostBatches = 8

/** The default of OpenTelemetry. */
const timeoutMillis = Config.Int("OTEL_EXPORTER_OTLP_TIMEOUT").pipe(Config.withDefault(10_000))

/**
 * Limits what is held for a collector, and logs when it begins to refuse what it gets, or to be away, and when it accepts again. The exporter
 * itself waits an hour for an answer, sends further batches meanwhile, and logs at debug only.
 */
const reporting = Layer.effect(
  HttpClient.HttpClient,
  Effect.gen(function*() {
    const client = yield* HttpClient.HttpClient
    const millis = yield* timeoutMillis
    const failing = new Set<string>()
    const held = new Map<string, number>()
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
      const lost = (cause: unknown) => new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, cause }) })
      const hold = (change: number) => Effect.sync(() => void held.set(place, (held.get(place) ?? 0) + change))
      const sent = sending.pipe(
        Effect.tap((response) => response.arrayBuffer),
        Effect.flatMap(HttpClientResponse.filterStatusOk),
        Effect.timeoutOrElse({ duration: millis, orElse: () => Effect.fail(lost(new Error(`no answer within ${millis / 1000} s`))) }),
        Effect.tap(() => accepted),
        Effect.tapError(({ reason }) => failed(reason._tag === "StatusCodeError" ? `it answered ${reason.response.status}` : clauseOf(reason.cause ?? reason))),
        Effect.retry({ while: HttpClient.isTransientError, times: 3, schedule: Schedule.spaced("1 second") })
      )
      return Effect.suspend(() =>
        (held.get(place) ?? 0) < mostBatches
          ? Effect.acquireUseRelease(hold(1), () => sent, () => hold(-1))
          : Effect.andThen(failed(`${mostBatches} exports wait for its answer`), Effect.fail(lost(new Error("too many exports"))))
      ).pipe(Effect.orDie) // a failure would be sent again, without this limit
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
