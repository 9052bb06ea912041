import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { gunzipSync } from "node:zlib"
import { describe, expect, it, onTestFinished } from "vitest"
import { buildPage } from "../../dashboard/build.mjs"
import { openDashboard } from "../../src/dashboard/Dashboard.ts"
import { loggingLayer } from "../../src/serve/Logging.ts"

const opened = async () => (await Effect.runPromise(openDashboard()))!

const answer = async (path: string, { headers = {}, method = "GET" }: { readonly method?: string; readonly headers?: Record<string, string> } = {}) => {
  const response = (await opened())({ method, path, headers })
  return response === undefined ? undefined : HttpServerResponse.toWeb(response)
}

const page = async () => await (await answer("/dashboard/"))!.text()

describe("Dashboard", () => {
  it("is a page that runs its own script only, and cannot be cached, framed or sniffed", async () => {
    const response = (await answer("/dashboard/"))!
    expect(response.status).toBe(200)
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "cache-control": "no-store",
      "content-type": "text/html; charset=utf-8",
      "cross-origin-opener-policy": "same-origin",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
      "x-frame-options": "DENY"
    })
    expect(response.headers.get("content-security-policy")!.split("; ")).toEqual([
      "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' data:", "base-uri 'none'",
      "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'"
    ])
    const html = await response.text()
    expect(html).not.toMatch(/https?:|style=|<style|\son\w+=/)
    expect(html.match(/<script[^>]*>/g)).toEqual([expect.stringMatching(/^<script type="module" src="app-[0-9a-f]{12}\.js">$/)])
  })

  it("names its files by their content hash, so that browsers may cache them forever", async () => {
    for (const [, name] of (await page()).matchAll(/(?:src|href)="(app-[^"]+)"/g)) {
      const response = (await answer(`/dashboard/${name}`))!
      expect(response.status).toBe(200)
      expect(response.headers.get("cache-control")).toBe("public, max-age=31536000, immutable")
      expect(response.headers.get("content-type")).toBe(name!.endsWith(".js") ? "text/javascript; charset=utf-8" : "text/css; charset=utf-8")
      expect(response.headers.get("x-content-type-options")).toBe("nosniff")
      const packed = (await answer(`/dashboard/${name}`, { headers: { "accept-encoding": "br, gzip;q=0.8" } }))!
      expect([packed.headers.get("content-encoding"), packed.headers.get("vary")]).toEqual(["gzip", "accept-encoding"])
      expect(gunzipSync(Buffer.from(await packed.arrayBuffer())).equals(Buffer.from(await response.arrayBuffer()))).toBe(true)
      const plain = (await answer(`/dashboard/${name}`, { headers: { "accept-encoding": "gzip;q=0, br" } }))!
      expect(plain.headers.get("content-encoding")).toBeNull()
    }
    expect(await (await answer("/dashboard/licenses.txt"))!.text()).toMatch(/preact[^]*MIT[^]*@picocss\/pico[^]*MIT/)
  })

  it("redirects to itself with a relative location, and answers no other path", async () => {
    const response = (await answer("/dashboard"))!
    expect([response.status, response.headers.get("location")]).toEqual([302, "dashboard/"])
    for (const path of ["/", "/dashboards", "/docs", "/operator/v1/tenants"]) expect(await answer(path)).toBeUndefined()
    for (const path of ["/dashboard/app.js", "/dashboard/../package.json", "/dashboard/%2e%2e/package.json", "/dashboard//index.html", "/dashboard/.index.html", "/dashboard/__proto__"]) {
      const refused = (await answer(path))!
      expect([refused.status, refused.headers.get("content-type")]).toEqual([404, "application/problem+json"])
    }
  })

  it("accepts reads only", async () => {
    expect((await answer("/dashboard/", { method: "HEAD" }))!.status).toBe(200)
    for (const method of ["POST", "PUT", "DELETE", "OPTIONS"]) {
      const refused = (await answer("/dashboard/", { method }))!
      expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, HEAD"])
    }
  })

  it("is absent when its page was not built, and logs that", async () => {
    const directory = mkdtempSync(join(tmpdir(), "waybill-page-"))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    const lines: Array<string> = []
    const logging = loggingLayer({ format: "json", level: "Info", write: (line) => void lines.push(line) })
    for (const place of [directory, join(directory, "none")]) {
      expect(await Effect.runPromise(Effect.provide(openDashboard(place), logging))).toBeUndefined()
    }
    expect(lines.map((line) => JSON.parse(line))).toEqual(Array(2).fill(expect.objectContaining({ level: "warn", message: expect.stringContaining("its page was not built") })))
  })

  it("is small, and its build removes the files of an earlier one", async () => {
    const directory = mkdtempSync(join(tmpdir(), "waybill-page-"))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    writeFileSync(join(directory, "app-000000000000.js"), "old")
    const files = await buildPage(directory)
    expect(files.map(({ name }) => name.replace(/-[0-9a-f]{12}\./, "."))).toEqual(["app.js", "app.css", "licenses.txt", "index.html"])
    expect(files[0]!.gzip).toBeLessThan(40_000)
    const dashboard = (await Effect.runPromise(openDashboard(directory)))!
    expect(dashboard({ method: "GET", path: "/dashboard/app-000000000000.js", headers: {} })!.status).toBe(404)
  })
})
