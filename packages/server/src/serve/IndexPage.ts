/** The page at `/`, with a description of the server and links. */
import { HttpServerResponse } from "effect/http"
import { areaOverviews, type WaybillApps } from "@waybill/http"
import type { ServerConfig } from "../config/ServerConfig.ts"

interface IndexPageOptions extends Pick<ServerConfig, "basePaths"> {
  readonly version: string
  /** The part of the service behind this listener. */
  readonly part: keyof WaybillApps
  /** Whether the dashboard is served. */
  readonly dashboard: boolean
  /** Example commands, if there is data. */
  readonly tryThese: ReadonlyArray<{ readonly shows: string; readonly command: string }>
}

export const indexPage = (options: IndexPageOptions): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(html(options), {
    contentType: "text/html; charset=utf-8",
    headers: {
      "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store"
    }
  })

const escape = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\"", "&quot;")

const areasOf = ({ basePaths }: IndexPageOptions) => [
  ...areaOverviews.map(({ key, summary, ...each }) => ({ ...each, base: basePaths[key], what: summary })),
  { name: "Intake", area: "intake", base: "/intake", what: "where the carrier's own system writes: shipments, events, status updates, charges, what became of pickups" },
  { name: "Portal", area: "portal", base: "/portal", what: "where a customer looks after its own subscriptions, deliveries and secrets" },
  { name: "Operator", area: "operator", base: "/operator", what: "tenants, keys, secrets, and deliveries that went wrong" }
]

const html = (options: IndexPageOptions): string => {
  const { dashboard, part, tryThese, version } = options
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Waybill</title>
<style>
  :root { color-scheme: light dark }
  body { font: 16px/1.55 system-ui, sans-serif; max-width: 42rem; margin: 4rem auto; padding: 0 1.25rem }
  h1 { font-size: 1.5rem; margin-bottom: .25rem }
  small { opacity: .6; font-weight: normal }
  dt { font-weight: 600; margin-top: .75rem }
  dd { margin: 0 }
  code { font-size: .9em }
  pre { overflow-x: auto; padding: .75rem 1rem; border: 1px solid #8886; border-radius: .5rem; font-size: .85rem }
</style>
<h1>Waybill <small>${escape(version)}</small></h1>
<p>Freight visibility over the industry's open interfaces: order pickups, look up shipments,
receive signed webhooks for events, and read freight charges.</p>
<dl>
${areasOf(options).filter(({ area }) => part === "whole" || (area === "operator") === (part === "operators")).map(({ area, base, name, what }) =>
  `  <dt>${name} <small><code>${escape(base)}</code> · <a href="openapi/${area}.json">OpenAPI</a></small></dt><dd>${what}</dd>`).join("\n")}
</dl>
<dl>
${dashboard ? `  <dt><a href="dashboard/">dashboard</a></dt><dd>subscriptions, deliveries, dead letters and shipments, for operators</dd>\n` : ""}${part === "customers" ? "" : `  <dt><a href="docs">docs</a></dt><dd>the API reference</dd>\n`}  <dt><a href="openapi.json">openapi.json</a></dt><dd>the OpenAPI document</dd>
  <dt><a href="readyz">readyz</a></dt><dd>readiness of this process</dd>
${part === "customers" ? "" : `  <dt><a href="metrics">metrics</a></dt><dd>for Prometheus</dd>\n`}</dl>
${tryThese.map(({ command, shows }) => `<p>${escape(shows)}</p>\n<pre>${escape(command)}</pre>\n`).join("")}</html>
`
}
