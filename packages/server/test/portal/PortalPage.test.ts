import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { openPortalPage, readPortalPage } from "../../src/portal/PortalPage.ts"

const policyOf = (response: Response) => response.headers.get("content-security-policy")!.split("; ")

describe("openPortalPage", () => {
  it("answers the page and its files below its path, and leaves all else to the host", async () => {
    const page = await openPortalPage({ basePath: "/customers/webhooks/" })
    const at = (path: string, method = "GET") => page(new Request(`https://freight.example.com${path}`, { method }))
    const html = await at("/customers/webhooks/")!.text()
    const files = [...html.matchAll(/(?:src|href)="(app-[^"]+)"/g)].map(([, name]) => name)
    expect(files).toHaveLength(2)
    for (const name of files) expect(at(`/customers/webhooks/${name}`)!.headers.get("cache-control")).toBe("public, max-age=31536000, immutable")
    expect([at("/customers/webhooks")!.status, at("/customers/webhooks")!.headers.get("location")]).toEqual([302, "webhooks/"])
    for (const path of ["/customers/webhooks/v1/session", "/customers/webhooks/app.js", "/customers", "/portal/"]) expect(at(path)).toBeUndefined()
    expect(at("/customers/webhooks/", "POST")!.status).toBe(405)
    expect(await at("/customers/webhooks/", "HEAD")!.text()).toBe("")
  })

  it("runs its own scripts only, and is in no frame by default", async () => {
    const response = (await openPortalPage())(new Request("https://freight.example.com/portal/"))!
    expect(policyOf(response)).toEqual([
      "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "img-src 'self' data: https:", "base-uri 'none'",
      "form-action 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'", "trusted-types 'none'"
    ])
    expect(response.headers.get("x-frame-options")).toBe("DENY")
    expect(response.headers.get("referrer-policy")).toBe("no-referrer")
    expect(await response.text()).not.toMatch(/https?:|style=|<style|\son\w+=/)
  })

  it("allows frames of the named origins, and takes nothing else for an origin", async () => {
    const page = await openPortalPage({ frameAncestors: ["https://app.example.com", "https://*.example.org:8443"] })
    const response = page(new Request("https://freight.example.com/portal/"))!
    expect(policyOf(response)).toContain("frame-ancestors https://app.example.com https://*.example.org:8443")
    expect(response.headers.get("x-frame-options")).toBeNull()
    for (const wrong of ["*", "https://a.example; script-src *", "https://a.example/path", "app.example", "'self'", "https://a.example\nx: y"]) {
      await expect(openPortalPage({ frameAncestors: [wrong] })).rejects.toThrow(RangeError)
    }
  })

  it("is absent when it was not built", async () => {
    const directory = mkdtempSync(join(tmpdir(), "waybill-page-"))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    expect(await readPortalPage({}, directory)).toBeUndefined()
  })
})
