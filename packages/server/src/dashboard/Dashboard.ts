/** Serves the dashboard below `/dashboard`: static files, which get their data from the operator API. */
import { problemContentType } from "@waybill/http"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { readdir, readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { gzip } from "node:zlib"

/** Built by packages/server/dashboard/build.mjs. Resolved through the package, because a bundler may move this file anywhere. */
const builtPage = join(dirname(createRequire(import.meta.url).resolve("waybill/package.json")), "dist/dashboard/page")

interface PageFile {
  readonly contentType: string
  readonly bytes: Uint8Array
  readonly gzipped: Uint8Array
}

export interface DashboardRequest {
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly headers: { readonly [name: string]: string | undefined }
}

/** Answers requests below `/dashboard`; `undefined` for other paths. */
export type Dashboard = (request: DashboardRequest) => HttpServerResponse.HttpServerResponse | undefined

const root = "/dashboard"

const contentTypes: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  txt: "text/plain; charset=utf-8"
}

/** Reads the built page into memory. If it was not built, logs how to build it and returns `undefined`. */
export const openDashboard = Effect.fnUntraced(function*(directory = builtPage) {
  const files = yield* Effect.promise(() => readPage(directory))
  if (files.has("index.html")) return dashboardOf(files)
  yield* Effect.logWarning("Dashboard not available: its page was not built. Run npm run build, or start with npm start, which builds it; or set WAYBILL_DASHBOARD=off.")
  return undefined
})

const readPage = async (directory: string): Promise<ReadonlyMap<string, PageFile>> => {
  const names = await readdir(directory).catch(() => [])
  const known = names.filter((name) => !name.startsWith(".") && typeOf(name) !== undefined)
  return new Map(await Promise.all(known.map(async (name) => {
    const bytes = await readFile(join(directory, name))
    return [name, { contentType: typeOf(name)!, bytes, gzipped: await promisify(gzip)(bytes) }] as const
  })))
}

const typeOf = (name: string): string | undefined => contentTypes[name.slice(name.lastIndexOf(".") + 1)]

/** Content security policy: only its own scripts and this server's addresses. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'"
].join("; ")

const guarded = {
  "content-security-policy": policy,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY"
}

const dashboardOf = (files: ReadonlyMap<string, PageFile>): Dashboard => ({ headers, method, path }) => {
  if (path !== root && !path.startsWith(`${root}/`)) return undefined
  if (method !== "GET" && method !== "HEAD") return problem(405, "Method not allowed", "The dashboard is only read.", { allow: "GET, HEAD" })
  // A relative location also works behind a proxy with a path prefix.
  if (path === root) return HttpServerResponse.empty({ status: 302, headers: { ...guarded, location: "dashboard/", "cache-control": "no-store" } })
  const name = path.slice(root.length + 1) || "index.html"
  const file = files.get(name)
  return file === undefined ? problem(404, "Not found", "The dashboard has no such file. Reload the page: the server may have been updated.") : served(name, file, headers)
}

const served = (name: string, { bytes, contentType, gzipped }: PageFile, headers: DashboardRequest["headers"]) => {
  const packs = /(^|,)\s*gzip\s*(;\s*q=(1|0?\.\d*[1-9]\d*)[\d.]*\s*)?(,|$)/i.test(headers["accept-encoding"] ?? "")
  return HttpServerResponse.uint8Array(packs ? gzipped : bytes, {
    contentType,
    headers: {
      ...guarded,
      // The names of the other files contain a hash of their content.
      "cache-control": name === "index.html" || name === "licenses.txt" ? "no-store" : "public, max-age=31536000, immutable",
      vary: "accept-encoding",
      ...packs ? { "content-encoding": "gzip" } : {}
    }
  })
}

const problem = (status: number, title: string, detail: string, headers: Readonly<Record<string, string>> = {}) =>
  HttpServerResponse.text(JSON.stringify({ status, title, detail, code: status === 404 ? "not_found" : "method_not_allowed" }), {
    status,
    contentType: problemContentType,
    headers: { ...guarded, ...headers, "cache-control": "no-store" }
  })
