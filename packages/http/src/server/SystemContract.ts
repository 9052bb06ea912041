/** Endpoints outside of the areas: probes, metrics, and documentation. */
import { Schema } from "effect"
import { contract } from "../shared/Contract.ts"

const Health = Schema.Struct({ status: Schema.Literal("ok") }).annotate({ identifier: "Health" })

const Readiness = Schema.Struct({
  status: Schema.Literals(["ready", "not_ready"]),
  checks: Schema.Array(Schema.Struct({ name: Schema.String, ok: Schema.Boolean }))
}).annotate({ identifier: "Readiness" })

const anything = Schema.Record(Schema.String, Schema.Unknown)

export const SystemContract = contract({
  area: "system",
  title: "System",
  description: "Probes, metrics and documents.",
  access: "public",
  params: { document: { description: "The area's name and .json, such as transit-events.json.", missing: "No such area." } },
  endpoints: {
    health: {
      route: "GET /healthz",
      summary: "Liveness of the process",
      answers: { 200: { description: "The process is alive", schema: Health } }
    },
    readiness: {
      route: "GET /readyz",
      summary: "Readiness of the process",
      answers: { 200: { description: "Ready", schema: Readiness }, 503: { description: "Not ready, with the failed checks", schema: Readiness } }
    },
    metrics: {
      route: "GET /metrics",
      access: "operator",
      summary: "Metrics as Prometheus text",
      answers: { 200: { description: "Metrics", schema: Schema.String, contentType: "text/plain" } }
    },
    openApi: {
      route: "GET /openapi.json",
      summary: "This document",
      answers: { 200: { description: "OpenAPI 3.1, every area", schema: anything } }
    },
    openApiOfArea: {
      route: "GET /openapi/{document}",
      summary: "One area of this document",
      answers: { 200: { description: "OpenAPI 3.1, one area", schema: anything } }
    },
    docs: {
      route: "GET /docs",
      summary: "This document to read",
      answers: { 200: { description: "A page", schema: Schema.String, contentType: "text/html" } }
    }
  }
})

const { docs: _docs, metrics, ...forEverybody } = SystemContract.endpoints

/** The same with metrics for everyone who reaches the address. */
export const withPublicMetrics = (spec: typeof SystemContract) =>
  ({ ...spec, endpoints: { ...spec.endpoints, metrics: { ...metrics, access: "public" } } }) as const

/** The public part, when the operator API is served elsewhere. */
export const CustomersSystemContract = { ...SystemContract, endpoints: forEverybody }
