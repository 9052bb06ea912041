import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Layer, Scope } from "effect"
import { telemetryLayer } from "../../src/serve/Telemetry.ts"

const faultsOf = (settings: Readonly<Record<string, string>>) =>
  // the scope stays open: what it would still send waits for the real time
  Effect.flatMap(Scope.make(), (scope) => Layer.buildWithScope(telemetryLayer({ enabled: true, version: "1.0.0" }), scope)).pipe(
    Effect.flip,
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord({ OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9", ...settings }))),
    Effect.map(({ message }) => message)
  )

describe("telemetry", () => {
  it.effect("names a setting of OpenTelemetry that it cannot read, without its value", Effect.fnUntraced(function*() {
    assert.strictEqual(
      yield* faultsOf({ OTEL_BSP_SCHEDULE_DELAY: "5s" }),
      "OTEL_BSP_SCHEDULE_DELAY cannot be used. Expected a string representing a finite number. OpenTelemetry's documentation has the values."
    )
    assert.match(yield* faultsOf({ OTEL_EXPORTER_OTLP_TIMEOUT: "10s" }), /^OTEL_EXPORTER_OTLP_TIMEOUT cannot be used\./)
    assert.match(yield* faultsOf({ OTEL_RESOURCE_ATTRIBUTES: "team=%ZZ" }), /^OTEL_RESOURCE_ATTRIBUTES cannot be used\./)
    assert.strictEqual(
      yield* faultsOf({ OTEL_EXPORTER_OTLP_HEADERS: "api-key=hunter2%ZZ" }),
      "OTEL_EXPORTER_OTLP_HEADERS cannot be used. Expected a valid URI component. OpenTelemetry's documentation has the values."
    )
    assert.notInclude(yield* faultsOf({ OTEL_EXPORTER_OTLP_COMPRESSION: "zstd" }), "zstd")
  }))
})
