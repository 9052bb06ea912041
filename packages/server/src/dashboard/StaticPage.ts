/** Serves a built page: static files, which get their data from calls of the service. */
import { problemContentType } from "@waybill/http"
import { HttpServerResponse } from "effect/http"
import { readdir, readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { promisify } from "node:util"
import { gzip } from "node:zlib"

/** Built by packages/server/dashboard/build.mjs. Resolved through the package, because a bundler may move this file anywhere. */
export const builtPage = (name: "dashboard" | "portal"): string => join(dirname(createRequire(import.meta.url).resolve("waybill/package.json")), `dist/${name}/page`)

interface PageFile {
  readonly contentType: string
  readonly bytes: Uint8Array
  readonly gzipped: Uint8Array
}

export type PageFiles = ReadonlyMap<string, PageFile>

export interface PageRequest {
  readonly method: string
  /** Without the query. */
  readonly path: string
  readonly headers: { readonly [name: string]: string | undefined }
}

/** Answers requests for the page; `undefined` for others. */
export type StaticPage = (request: PageRequest) => HttpServerResponse.HttpServerResponse | undefined

export interface StaticPageOptions {
  /** Path of the page, such as `/dashboard`. */
  readonly root: string
  /** In messages, with its article. */
  readonly what: string
  /** Sent with every file. */
  readonly headers: Readonly<Record<string, string>>
  /** Whether calls of the service are below the same path: requests that are for no file are left to them. */
  readonly sharesPath: boolean
}

const contentTypes: Readonly<Record<string, string>> = {
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  txt: "text/plain; charset=utf-8"
}

/** Reads a built page into memory; without `index.html` if it was not built. */
export const readPage = async (directory: string): Promise<PageFiles> => {
  const names = await readdir(directory).catch(() => [])
  const known = names.filter((name) => !name.startsWith(".") && typeOf(name) !== undefined)
  return new Map(await Promise.all(known.map(async (name) => {
    const bytes = await readFile(join(directory, name))
    return [name, { contentType: typeOf(name)!, bytes, gzipped: await promisify(gzip)(bytes) }] as const
  })))
}

const typeOf = (name: string): string | undefined => contentTypes[name.slice(name.lastIndexOf(".") + 1)]

export interface PolicyOptions {
  /** Sources of images beside the page's own. */
  readonly images?: string
  /** Origins whose pages may embed this one. */
  readonly frameAncestors?: ReadonlyArray<string>
}

/** Headers that guard a page: only its own scripts and this server's addresses, and no frame around it unless one is allowed. */
export const guardedHeaders = ({ frameAncestors = [], images = "" }: PolicyOptions = {}): Readonly<Record<string, string>> => ({
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    `img-src 'self' data:${images === "" ? "" : ` ${images}`}`,
    "base-uri 'none'",
    "form-action 'none'",
    `frame-ancestors ${frameAncestors.length === 0 ? "'none'" : frameAncestors.join(" ")}`,
    "require-trusted-types-for 'script'",
    "trusted-types 'none'"
  ].join("; "),
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  // it knows no list of origins
  ...(frameAncestors.length === 0 ? { "x-frame-options": "DENY" } : {})
})

export const staticPage = (files: PageFiles, { headers: guarded, root, sharesPath, what }: StaticPageOptions): StaticPage => {
  const problem = problemWith(guarded)
  return ({ headers, method, path }) => {
    if (path !== root && !path.startsWith(`${root}/`)) return undefined
    const name = path.slice(root.length + 1) || "index.html"
    const file = files.get(name)
    if (sharesPath && file === undefined) return undefined
    if (method !== "GET" && method !== "HEAD") return problem(405, "Method not allowed", `${what} is only read.`, { allow: "GET, HEAD" })
    // A relative location also works behind a proxy with a path prefix.
    if (path === root) return HttpServerResponse.empty({ status: 302, headers: { ...guarded, location: `${root.slice(root.lastIndexOf("/") + 1)}/`, "cache-control": "no-store" } })
    return file === undefined
      ? problem(404, "Not found", `${what} has no such file. Reload the page: the server may have been updated.`)
      : served(name, file, headers, guarded)
  }
}

const served = (name: string, { bytes, contentType, gzipped }: PageFile, headers: PageRequest["headers"], guarded: Readonly<Record<string, string>>) => {
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

const problemWith = (guarded: Readonly<Record<string, string>>) => (status: number, title: string, detail: string, headers: Readonly<Record<string, string>> = {}) =>
  HttpServerResponse.text(JSON.stringify({ status, title, detail, code: status === 404 ? "path_not_found" : "method_not_allowed" }), {
    status,
    contentType: problemContentType,
    headers: { ...guarded, ...headers, "cache-control": "no-store" }
  })
