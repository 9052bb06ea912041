/** The page at `/`: what this is, and where to go from here. */
import { HttpServerResponse } from "effect/http"

export interface IndexPageOptions {
  readonly version: string
  /** A command to try, where there is something to see. */
  readonly tryThis: string | undefined
}

export const indexPage = ({ tryThis, version }: IndexPageOptions): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(html(version, tryThis), {
    contentType: "text/html; charset=utf-8",
    headers: {
      "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "cache-control": "no-store"
    }
  })

const escape = (text: string): string => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll("\"", "&quot;")

const html = (version: string, tryThis: string | undefined): string => `<!doctype html>
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
  pre { overflow-x: auto; padding: .75rem 1rem; border: 1px solid #8886; border-radius: .5rem; font-size: .85rem }
</style>
<h1>Waybill <small>${escape(version)}</small></h1>
<p>Freight visibility over the industry's open interfaces: ask where a shipment is, and be told by signed webhooks when something happens.</p>
<dl>
  <dt><a href="docs">docs</a></dt><dd>every call, to read</dd>
  <dt><a href="openapi.json">openapi.json</a></dt><dd>every call and webhook, for tools</dd>
  <dt><a href="readyz">readyz</a></dt><dd>whether this process can do its work</dd>
  <dt><a href="metrics">metrics</a></dt><dd>for Prometheus</dd>
</dl>
${tryThis === undefined ? "" : `<p>Try this in a terminal:</p>\n<pre>${escape(tryThis)}</pre>\n`}</html>
`
