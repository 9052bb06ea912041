/**
 * Names, statuses and errors of spans as OpenTelemetry's semantic conventions have them. The libraries that make the spans know the
 * route and the statement only later, and call every answered request a success.
 */
import { Cause, Exit, type Tracer } from "effect"
import type { OtlpTracer } from "effect/observability"

/** Changes the span itself: the exporter reads it when it ends. */
export const withConventions = (span: Tracer.Span): Tracer.Span => {
  if (span.kind === "server") return serverSpan(span)
  return span.kind === "client" ? clientSpan(span) : span
}

/** The exporter's spans have their name as a plain property. */
const rename = (span: Tracer.Span, name: string): void => void Object.assign(span, { name })

/** `{method} {route}`; an answer of 5xx is an error, one of 4xx is the caller's. */
const serverSpan = (span: Tracer.Span): Tracer.Span => {
  const { attribute, end } = methodsOf(span)
  const method = span.name
  span.attribute = (key, value) => {
    if (key === "http.route") rename(span, `${method} ${String(value)}`)
    attribute(key, value)
  }
  span.end = (at, exit) => {
    const status = span.attributes.get("http.response.status_code")
    if (typeof status !== "number" || status < 500) return end(at, exit)
    attribute("error.type", String(status))
    end(at, Exit.isFailure(exit) ? exit : Exit.fail(answered(status)))
  }
  return span
}

/** `{operation} {database}` for statements. Attempts have their name and error already. */
const clientSpan = (span: Tracer.Span): Tracer.Span => {
  const { attribute, end } = methodsOf(span)
  span.attribute = (key, value) => {
    attribute(key, value)
    if (key !== "db.query.text") return
    const operation = /^\W*([a-z]+)/i.exec(String(value))?.[1]?.toUpperCase()
    if (operation === undefined) return
    attribute("db.operation.name", operation)
    const database = span.attributes.get("db.namespace")
    rename(span, typeof database === "string" ? `${operation} ${database}` : operation)
  }
  span.end = (at, exit) => {
    if (Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause) && span.attributes.has("db.system.name")) {
      const code = sqlStateOf(Cause.squash(exit.cause))
      if (code !== undefined) attribute("db.response.status_code", code)
      attribute("error.type", code ?? "_OTHER")
    }
    end(at, exit)
  }
  return span
}

const statusUnset = 0
const statusOk = 1

/** Unsets the status of successful spans, which the exporter marks as Ok. */
export const withoutOk = (data: OtlpTracer.TraceData): OtlpTracer.TraceData => ({
  resourceSpans: data.resourceSpans.map((resource) => ({
    ...resource,
    scopeSpans: resource.scopeSpans.map((scope) => ({
      ...scope,
      spans: scope.spans.map((span) => span.status.code === statusOk ? { ...span, status: { code: statusUnset } } : span)
    }))
  }))
})

const methodsOf = (span: Tracer.Span) => ({ attribute: span.attribute.bind(span), end: span.end.bind(span) })

const answered = (status: number): Error => Object.assign(new Error(`Answered ${status}.`), { name: "ServerError", stack: `ServerError: Answered ${status}.` })

/** The code of Postgres, at the bottom of the error. */
const sqlStateOf = (error: unknown): string | undefined => {
  let found: string | undefined
  for (let current = error, depth = 0; typeof current === "object" && current !== null && depth < 6; depth++) {
    const { cause, code, reason } = current as { readonly code?: unknown; readonly cause?: unknown; readonly reason?: unknown }
    if (typeof code === "string" && /^[0-9A-Z]{5}$/.test(code)) found = code
    current = reason ?? cause
  }
  return found
}
