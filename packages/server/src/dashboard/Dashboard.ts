/** The operator's page below `/dashboard`: files without data in them, which ask the operator's calls for what they show. */
import { problemContentType } from "@waybill/http"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { readdir, readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { gzip } from "node:zlib"

/** Built by packages/server/dashboard/build.mjs; in the package, because where this file ends up when it is bundled nobody knows. */
const builtPage = join(dirname(createRequire(import.meta.url).resolve("waybill/package.json")), "dist/dashboard/page")

interface PageFile {
  readonly contentType: string
  readonly bytes: Uint8Array
  readonly gzipped: Uint8Array
}

export interface DashboardRequest {
  readonly method: string
  /** Without its query. */
  readonly path: string
  readonly headers: { readonly [name: string]: string | undefined }
}

/** Answers what lies below `/dashboard`, and `undefined` what does not. */
export type Dashboard = (request: DashboardRequest) => HttpServerResponse.HttpServerResponse | undefined

const root = "/dashboard"

const contentTypes: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  txt: "text/plain; charset=utf-8"
}

/** Reads the page into memory. Where it was not built, the log says how to, and there is none. */
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

/** No script but its own, no address but this server's; whatever text it is given stays text. */
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
  // relative, so that it also leads there below a path of a proxy's
  if (path === root) return HttpServerResponse.empty({ status: 302, headers: { ...guarded, location: "dashboard/", "cache-control": "no-store" } })
  const name = path.slice(root.length + 1) || "index.html"
  const file = files.get(name)
  return file === undefined ? problem(404, "Not found", "The dashboard has no such file. Load it anew: the server may have been updated.") : served(name, file, headers)
}

const served = (name: string, { bytes, contentType, gzipped }: PageFile, headers: DashboardRequest["headers"]) => {
  const packs = /(^|,)\s*gzip\s*(;\s*q=(1|0?\.\d*[1-9]\d*)[\d.]*\s*)?(,|$)/i.test(headers["accept-encoding"] ?? "")
  return HttpServerResponse.uint8Array(packs ? gzipped : bytes, {
    contentType,
    headers: {
      ...guarded,
      // names of the others tell their contents
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
