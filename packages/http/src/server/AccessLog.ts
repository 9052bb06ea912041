/** One log line and two metrics for every request. Never a secret, a query or a body: only what the service itself gave names. */
import { isOperator, type Principal } from "@waybill/core"
import { Effect, Metric } from "effect"
import type { Exchange } from "./RequestPipeline.ts"

export const requestsTotal = Metric.counter("waybill_http_requests_total", {
  description: "Answered requests, by method, route and status.",
  incremental: true
})

export const requestSeconds = Metric.histogram("waybill_http_request_seconds", {
  description: "How long requests took, by route.",
  boundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
})

const known = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])

/** Operators belong to no tenant, and the operator's key has no name. */
const callerOf = (principal: Principal) =>
  isOperator(principal)
    ? { client: principal.client === "" ? "operator" : principal.client }
    : { tenant: principal.tenantId, client: principal.client }

export const logRequest = (exchange: Exchange, status: number, endedAt: number): Effect.Effect<void> => {
  const durationMillis = Math.max(0, endedAt - exchange.startedAt)
  const method = known.has(exchange.method) ? exchange.method : "OTHER"
  const route = exchange.template
  const { principal, visitor } = exchange
  const line = `${method} ${route} ${status}`
  // probes and scrapes come every few seconds and say nothing new
  const log = exchange.contract?.area === "system" && status < 400 ? Effect.logDebug(line) : Effect.logInfo(line)
  return Effect.all([
    Effect.annotateLogs(log, {
      method,
      route,
      status,
      durationMillis,
      ...(principal !== undefined ? callerOf(principal) : visitor === undefined ? {} : { tenant: visitor.tenantId })
    }),
    Metric.update(Metric.withAttributes(requestsTotal, { method, route, status: String(status) }), 1),
    Metric.update(Metric.withAttributes(requestSeconds, { route }), durationMillis / 1000)
  ], { discard: true })
}
