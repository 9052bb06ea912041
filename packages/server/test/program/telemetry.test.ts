import type { IncomingMessage } from "node:http"
import { describe, expect, inject, it } from "vitest"
import { eventually, listening, Program, receiver, sharedSettings, urlOf } from "./Program.ts"
import { event, tenantOn } from "./Tenant.ts"

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly attributes: ReadonlyArray<{ readonly key: string; readonly value: { readonly stringValue?: string; readonly intValue?: number | string } }>
}

/** A fake OpenTelemetry collector. */
const collector = async () => {
  const spans: Array<Span> = []
  const metrics = new Set<string>()
  const server = await listening((request, response) => {
    void textOf(request).then((text) => {
      const body = JSON.parse(text)
      for (const resource of body.resourceSpans ?? []) for (const scope of resource.scopeSpans) spans.push(...scope.spans)
      for (const resource of body.resourceMetrics ?? []) for (const scope of resource.scopeMetrics) for (const { name } of scope.metrics) metrics.add(name)
      response.writeHead(200, { "content-type": "application/json" }).end("{}")
    })
  })
  return { url: urlOf(server), spans, metrics }
}

const textOf = async (request: IncomingMessage) => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

describe("telemetry", { timeout: 60_000 }, () => {
  it("exports one trace from a carrier's call to every attempt at the receiver", async () => {
    const otlp = await collector()
    const { env, operatorKey } = sharedSettings(inject("pgUrl"), {
      OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url,
      OTEL_BSP_SCHEDULE_DELAY: "100",
      OTEL_METRIC_EXPORT_INTERVAL: "100"
    })
    const program = new Program({ env })
    const url = await program.ready()
    const tenant = await tenantOn(url, operatorKey)
    const hook = await receiver((_, response) => void response.writeHead(hook.receptions.length === 1 ? 500 : 200).end())
    await tenant.customerAt(url).createSubscription({ endpointUrl: `${hook.url}/hook`, hmacSecretId: "main", delivery: { initialBackoffSeconds: 1 } })

    const traceId = "0af7651916cd43dd8448eb211c80319c"
    const answer = await fetch(`${url}/intake/v1/transit-events`, {
      method: "POST",
      headers: { "x-api-key": tenant.carrierKey, "content-type": "application/json", "traceparent": `00-${traceId}-b7ad6b7169203331-01` },
      body: JSON.stringify({ events: [event("S-1", 1)] })
    })
    expect(answer.status).toBe(200)
    await eventually(() => hook.receptions[1])

    const trace = () => otlp.spans.filter((span) => span.traceId === traceId)
    await eventually(() => trace().filter(({ name }) => name === "webhook.attempt").length === 2 ? true : undefined, {
      what: () => `both attempts; there are ${trace().map(({ name }) => name)}`
    })
    const publish = await eventually(() => trace().find(({ name }) => name === "TransitEvents.append"))
    const attempts = trace().filter(({ name }) => name === "webhook.attempt")
    const attribute = (span: Span, name: string) => span.attributes.find(({ key }) => key === name)?.value
    expect(attempts.map((span) => span.parentSpanId)).toEqual([publish.spanId, publish.spanId])
    expect(attempts.map((span) => Number(attribute(span, "waybill.attempt")?.intValue))).toEqual([1, 2])
    expect(attempts.map((span) => attribute(span, "waybill.outcome")?.stringValue)).toEqual(["Failed", "Accepted"])
    await eventually(() => otlp.metrics.has("waybill_delivery_attempts_total") ? true : undefined)
    // Polling for work creates no trace.
    const client = 3
    expect(otlp.spans.filter(({ kind, parentSpanId }) => (parentSpanId ?? "") === "" && kind === client)).toEqual([])
    expect(await program.kill("SIGTERM")).toEqual({ code: 0, signal: null })
  })

  it("ignores a missing collector", async () => {
    const { env } = sharedSettings(inject("pgUrl"), { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9" })
    const program = new Program({ env })
    const url = await program.ready()
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    expect(await program.kill("SIGTERM")).toEqual({ code: 0, signal: null })
  })
})
