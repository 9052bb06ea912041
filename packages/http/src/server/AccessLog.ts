/** One log line and two metrics per request. Never contains a secret, a query or a body: only names that the service itself defined. */
import { isOperator, type Principal } from "@waybill/core"
import { Cause, Effect, Metric } from "effect"
import type { Failure } from "../shared/ProblemOf.ts"
import type { Exchange } from "./RequestPipeline.ts"

const requestsTotal = (attributes: { readonly method: string; readonly route: string; readonly status: string }) =>
  Metric.counter("waybill_http_requests_total", {
    description: "Answered requests, by method, route and status.",
    incremental: true,
    attributes
  })

const requestSeconds = (route: string) =>
  Metric.histogram("waybill_http_request_seconds", {
    description: "How long requests took, by route.",
    attributes: { unit: "seconds", route },
    boundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
  })

/** Each series has a metric of its own, which is kept: a metric with other attributes at each update takes three times as long. */
const counters = new Map<string, ReturnType<typeof requestsTotal>>()
const histograms = new Map<string, ReturnType<typeof requestSeconds>>()

/** Methods, routes and statuses are names that the service itself defined, so there are few. */
const counterOf = (method: string, route: string, status: number) => {
  const name = `${method} ${status} ${route}`
  const known = counters.get(name) ?? requestsTotal({ method, route, status: String(status) })
  counters.set(name, known)
  return known
}

const histogramOf = (route: string) => {
  const known = histograms.get(route) ?? requestSeconds(route)
  histograms.set(route, known)
  return known
}

const known = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])

/** Operators belong to no tenant. */
const callerOf = (principal: Principal) =>
  isOperator(principal)
    ? { client: principal.client }
    : { tenant: principal.tenantId, client: principal.client }

/** Why a caller was refused, for the log; only for 401, 403 and too many failures. Contains no part of the request. */
export const refusalReason = (cause: Cause.Cause<Failure>, status: number): string | undefined => {
  const error = cause.reasons.find(Cause.isFailReason)?.error
  if (error === undefined) return undefined
  switch (error._tag) {
    case "Unauthenticated":
      return error.presented ? error.reason ?? "credentials are not valid" : "no credentials"
    case "NotPermitted":
      return `role ${error.needed} is needed`
    case "OperatorReadOnly":
      return "operator is read-only"
    case "TenantSuspended":
      return `tenant ${error.tenantId} is suspended`
    case "RateExceeded":
      return error.quota === "failedCredentials" ? "too many failed credentials" : undefined
    default:
      return status === 401 || status === 403 ? error._tag : undefined
  }
}

/** `endedAt`: in `monotonicMillis`. `isRefusal`: a separate line reports the refusal, so this one has level debug. Returns the fields of the line. */
export const logRequest = Effect.fnUntraced(function*(exchange: Exchange, status: number, endedAt: number, isRefusal: boolean) {
  const durationMillis = endedAt - exchange.startedAt
  const method = known.has(exchange.method) ? exchange.method : "OTHER"
  const route = exchange.template
  const { principal, anonymous } = exchange
  const line = `${method} ${route} ${status}`
  // Probes and scrapes come every few seconds and report nothing new.
  const isQuiet = isRefusal || (exchange.contract?.area === "system" && status < 400)
  const fields = {
    method,
    route,
    status,
    durationMillis,
    ...(principal !== undefined ? callerOf(principal) : anonymous === undefined ? {} : { tenant: anonymous.tenantId })
  }
  yield* Effect.annotateLogs(isQuiet ? Effect.logDebug(line) : Effect.logInfo(line), fields)
  yield* Metric.update(counterOf(method, route, status), 1)
  yield* Metric.update(histogramOf(route), durationMillis / 1000)
  return { fields }
})
