import type { IncomingMessage } from "node:http"
import { describe, expect, inject, it } from "vitest"
import { eventually, listening, receiver, sharedSettings, startProgram, urlOf } from "./Program.ts"
import { event, tenantOn } from "./Tenant.ts"

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly attributes: ReadonlyArray<Attribute>
  readonly status: { readonly code: number; readonly message?: string }
}

interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue?: string; readonly intValue?: number | string }
}

const statusUnset = 0
const statusError = 2
const kinds = { server: 2, client: 3 }

const valuesOf = (attributes: ReadonlyArray<Attribute>): Readonly<Record<string, string | number | undefined>> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, value.intValue === undefined ? value.stringValue : Number(value.intValue)]))

/** A fake OpenTelemetry collector. */
const collector = async () => {
  const spans: Array<Span> = []
  /** Units by name. */
  const metrics = new Map<string, string>()
  const resources: Array<Readonly<Record<string, string | number | undefined>>> = []
  const server = await listening((request, response) => {
    void textOf(request).then((text) => {
      const body = JSON.parse(text)
      for (const { resource } of [...body.resourceSpans ?? [], ...body.resourceMetrics ?? []]) resources.push(valuesOf(resource.attributes))
      for (const resource of body.resourceSpans ?? []) for (const scope of resource.scopeSpans) spans.push(...scope.spans)
      for (const resource of body.resourceMetrics ?? []) for (const scope of resource.scopeMetrics) for (const { name, unit } of scope.metrics) metrics.set(name, unit)
      response.writeHead(200, { "content-type": "application/json" }).end("{}")
    })
  })
  return { url: urlOf(server), spans, metrics, resources }
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
    const { url } = await startProgram({ env })
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
    await eventually(() => trace().filter(({ attributes }) => "waybill.attempt" in valuesOf(attributes)).length === 2 ? true : undefined, {
      what: () => `both attempts; there are ${trace().map(({ name }) => name)}`
    })
    const publish = await eventually(() => trace().find(({ name }) => name === "TransitEvents.append"))
    const attempts = trace().filter(({ attributes }) => "waybill.attempt" in valuesOf(attributes))
    const attribute = (span: Span, name: string) => span.attributes.find(({ key }) => key === name)?.value
    expect(attempts.map((span) => span.parentSpanId)).toEqual([publish.spanId, publish.spanId])
    expect(attempts.map((span) => Number(attribute(span, "waybill.attempt")?.intValue))).toEqual([1, 2])
    expect(attempts.map((span) => attribute(span, "waybill.outcome")?.stringValue)).toEqual(["http_5xx", "accepted"])
    await eventually(() => otlp.metrics.has("waybill_delivery_attempts_total") ? true : undefined)
    // Polling for work creates no trace.
    const client = 3
    expect(otlp.spans.filter(({ kind, parentSpanId }) => (parentSpanId ?? "") === "" && kind === client)).toEqual([])
  })

  it("names and describes spans, errors, units and itself as the semantic conventions do", async () => {
    const otlp = await collector()
    const pgUrl = inject("pgUrl")
    const { env, operatorKey } = sharedSettings(pgUrl, {
      OTEL_EXPORTER_OTLP_ENDPOINT: otlp.url,
      OTEL_BSP_SCHEDULE_DELAY: "100",
      OTEL_METRIC_EXPORT_INTERVAL: "100",
      OTEL_SERVICE_NAME: "freight-visibility",
      OTEL_RESOURCE_ATTRIBUTES: "deployment.environment.name=staging"
    })
    const { program, url } = await startProgram({ env })
    const tenant = await tenantOn(url, operatorKey)
    const hook = await receiver((_, response) => void response.writeHead(503).end())
    const subscribed = await tenant.customerAt(url).createSubscription({ endpointUrl: `${hook.url}/hook?token=secret-of-receiver`, hmacSecretId: "main", delivery: { maxAttempts: 1 } })
    await tenant.intakeAt(url).publishTransitEvents([event("S-1", 1)])
    await fetch(`${url}/visibility/v1/events`, { headers: { "x-api-key": "nobody" } })

    const found = (what: string, is: (span: Span, attributes: ReturnType<typeof valuesOf>) => boolean) =>
      eventually(() => otlp.spans.find((span) => is(span, valuesOf(span.attributes))), { what: () => `${what}; there are ${[...new Set(otlp.spans.map(({ name }) => name))].join(", ")}` })
    const request = await found("the carrier's call", ({ name }) => name === "POST /intake/v1/transit-events")
    expect(request.kind).toBe(kinds.server)
    expect(valuesOf(request.attributes)).toMatchObject({
      "http.request.method": "POST",
      "http.route": "/intake/v1/transit-events",
      "http.response.status_code": 200,
      "url.path": "/intake/v1/transit-events",
      "url.scheme": "http",
      "server.address": "127.0.0.1",
      "server.port": Number(new URL(url).port)
    })
    // A fault of the caller is not an error of the server.
    const refused = await found("the refused call", ({ name }) => name === "GET /visibility/v1/events")
    expect([valuesOf(refused.attributes)["http.response.status_code"], refused.status.code]).toEqual([401, statusUnset])
    expect(request.status.code).toBe(statusUnset)

    const attempt = await found("the attempt", (_, attributes) => "waybill.attempt" in attributes)
    expect([attempt.name, attempt.kind, attempt.status.code]).toEqual(["POST", kinds.client, statusError])
    const { deliveryId } = (await eventually(async () => (await tenant.operator.listDeliveries("acme", { state: "dead" })).data[0]))
    expect(valuesOf(attempt.attributes)).toMatchObject({
      "http.request.method": "POST",
      "http.response.status_code": 503,
      "error.type": "503",
      "server.address": "127.0.0.1",
      "server.port": Number(new URL(hook.url).port),
      "messaging.operation.type": "send",
      "messaging.destination.name": subscribed.id,
      "messaging.message.id": deliveryId,
      "messaging.batch.message_count": 1
    })
    expect(JSON.stringify(attempt)).not.toContain("secret-of-receiver")

    const database = new URL(pgUrl)
    const namespace = database.pathname.slice(1)
    const statement = await found("a statement", ({ kind }, attributes) => kind === kinds.client && "db.query.text" in attributes)
    const { "db.operation.name": operation, ...described } = valuesOf(statement.attributes)
    expect(statement.name).toBe(`${operation} ${namespace}`)
    expect(described).toMatchObject({ "db.system.name": "postgresql", "db.namespace": namespace, "server.address": database.hostname, "server.port": Number(database.port || 5432) })

    for (const name of ["waybill_http_request_seconds", "waybill_delivery_attempt_seconds"]) {
      expect(await eventually(() => otlp.metrics.get(name))).toBe("s")
    }
    const { "service.instance.id": instance, ...resource } = otlp.resources[0]!
    expect(resource).toMatchObject({ "service.name": "freight-visibility", "deployment.environment.name": "staging" })
    expect(instance).toMatch(/^[0-9a-f-]{36}$/)

    const line = await eventually(() => program.log.find(({ message }) => String(message).startsWith("POST /intake/v1/transit-events")))
    expect([line["trace_id"], line["span_id"]]).toEqual([request.traceId, request.spanId])
    const dead = await eventually(() => program.log.find(({ message }) => String(message).startsWith("Dead letter")))
    expect(dead["trace_id"]).toBe(attempt.traceId)
  })

  it("serves while the collector is away or refuses, and logs when that begins and ends", async () => {
    const away = await startProgram({ env: sharedSettings(inject("pgUrl"), { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9", OTEL_METRIC_EXPORT_INTERVAL: "100" }).env })
    await eventually(() => away.program.log.find(({ level, message }) => level === "warn" && /^Telemetry not exported to 127\.0\.0\.1:9\/v1\/metrics: .*ECONNREFUSED.*\. Check the collector/.test(message)))
    expect((await fetch(`${away.url}/readyz`)).status).toBe(200)

    const refused = new Set<string>()
    const otlp = await listening((request, response) => {
      // the first of each signal only: the exporter gives up for a minute after four, however slowly this process starts
      const status = refused.has(request.url!) ? 200 : 500
      refused.add(request.url!)
      void textOf(request).then(() => response.writeHead(status).end("{}"))
    })
    const { program } = await startProgram({ env: sharedSettings(inject("pgUrl"), { OTEL_EXPORTER_OTLP_ENDPOINT: urlOf(otlp), OTEL_METRIC_EXPORT_INTERVAL: "100" }).env })
    const metrics = (text: RegExp) => program.log.filter(({ message }) => String(message).includes("/v1/metrics") && text.test(message))
    await eventually(() => metrics(/: it answered 500\. Check the collector/)[0])
    await eventually(() => metrics(/^Telemetry exported to .* again\.$/)[0])
    expect(metrics(/not exported/).length).toBe(1)
  })

  it("exports what has an endpoint of its own, without the general one", async () => {
    const received = new Set<string>()
    const otlp = await listening((request, response) => {
      received.add(request.url!)
      void textOf(request).then(() => response.writeHead(200).end("{}"))
    })
    const { url } = await startProgram({ env: sharedSettings(inject("pgUrl"), { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${urlOf(otlp)}/spans`, OTEL_BSP_SCHEDULE_DELAY: "100" }).env })
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    await fetch(`${url}/intake/v1/shipments`, { method: "POST" })
    await eventually(() => received.has("/spans") || undefined)
    expect([...received]).toEqual(["/spans"])
  })

  it("holds few batches for a collector that does not answer, and says so", async () => {
    const open = { "/v1/traces": 0, "/v1/metrics": 0 }
    const otlp = await listening((request) => void (open[request.url as keyof typeof open] += 1))
    const { program, url } = await startProgram({
      env: sharedSettings(inject("pgUrl"), { OTEL_EXPORTER_OTLP_ENDPOINT: urlOf(otlp), OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "1", OTEL_METRIC_EXPORT_INTERVAL: "100", OTEL_EXPORTER_OTLP_TIMEOUT: "500" }).env
    })
    for (let request = 0; request < 40; request++) expect((await fetch(`${url}/nothing`)).status).toBe(404)
    await eventually(() => program.log.find(({ message }) => /\/v1\/traces: (8 exports wait for its answer|no answer within 0\.5 s)\. Check the collector/.test(String(message))))
    await eventually(() => program.log.find(({ message }) => /\/v1\/metrics: no answer within 0\.5 s\. Check the collector/.test(String(message))))
    expect(open["/v1/traces"]).toBeLessThanOrEqual(8 * 4)
  })
})
