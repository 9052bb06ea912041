import { HttpServerResponse } from "effect/http"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { readPortalPage } from "../../src/portal/PortalPage.ts"
import { closeBrowserAfterwards, noBrowser, visit } from "../dashboard/Chromium.ts"
import { deadLetter, idOf, subscriptionSample } from "../dashboard/FakeOperatorApi.ts"
import { listening, urlOf } from "../program/Program.ts"

/** Text that must appear as text. */
const evil = `<script>pwned=1</script>"><img src=x onerror="pwned=2">javascript:pwned=3</style><style>*{display:none}\u202e`
const shown = evil.replace("\u202e", "U+202E")

const subscription = subscriptionSample(1, { client: evil, endpointUrl: evil, hmacSecretId: evil, state: "paused", pausedBy: "service", reason: evil, lastAttempt: { at: evil, outcome: evil, status: 500 } })
const { body: _, endpointUrl: __, ...delivery } = deadLetter(1, { subscriptionId: evil })

/** What a server would have to be broken to send. */
const answers: Readonly<Record<string, unknown>> = {
  "/portal/v1/session": { tenantId: evil, client: evil, expiresAt: evil, theme: { name: evil, accent: `#fff;}*{display:none`, background: evil, text: evil, radius: `1px;background:url(//evil.example)`, logoUrl: "javascript:pwned=4" } },
  "/portal/v1/subscriptions": { data: [subscription], nextCursor: evil },
  [`/portal/v1/subscriptions/${idOf(1)}`]: subscription,
  "/portal/v1/deliveries": { data: [delivery], nextCursor: null },
  [`/portal/v1/deliveries/${delivery.deliveryId}`]: { ...deadLetter(1, { body: evil, endpointUrl: evil }) },
  "/portal/v1/secrets": { data: [{ hmacSecretId: evil, client: evil, accounts: [], anyClient: false, createdAt: evil, rotatedAt: null, signsUntil: evil, usedBy: 1 }], nextCursor: null },
  "/portal/v1/contact": { email: evil, emailKinds: null, sendsMail: true, webhook: { subscriptionId: evil, endpointUrl: evil, hmacSecretId: evil }, webhookKinds: [evil] }
}

const served = async () => {
  const page = (await readPortalPage())!
  const server = await listening((request: IncomingMessage, response: ServerResponse) => {
    const { pathname } = new URL(request.url!, "http://portal.example")
    const file = page({ method: request.method!, path: pathname, headers: request.headers as Record<string, string> })
    if (file === undefined) {
      const json = answers[pathname]
      return void response.writeHead(json === undefined ? 404 : 200, { "content-type": "application/json" }).end(JSON.stringify(json ?? {}))
    }
    const web = HttpServerResponse.toWeb(file)
    response.writeHead(web.status, Object.fromEntries(web.headers))
    void web.arrayBuffer().then((bytes) => response.end(Buffer.from(bytes)))
  })
  return urlOf(server)
}

/** Elements and addresses that data must never create. */
const madeOfData = (page: Page) =>
  page.evaluate(() => [
    ...[...document.querySelectorAll("script, img, iframe, object, embed, base, svg, form[action], [src], body [style], [srcdoc], meta[http-equiv]")].filter((element) => !element.matches("head > script[type=module]")).map((element) => element.outerHTML),
    ...[...document.querySelectorAll("a")].map((link) => link.getAttribute("href")!).filter((href) => !href.startsWith("#")),
    ...[...document.documentElement.style].filter((name) => name.startsWith("--portal")),
    document.documentElement.className
  ].filter((made) => made !== ""))

closeBrowserAfterwards()

describe.skipIf(noBrowser)("the portal's page with malicious data", { timeout: 60_000 }, () => {
  it("shows it as text in every view, and takes no style from it", async () => {
    const url = await served()
    const { page, violations } = await visit(url)
    for (const hash of ["#/subscriptions", `#/subscriptions/${idOf(1)}`, "#/deliveries", `#/deliveries/${delivery.deliveryId}`, "#/secrets", "#/notices"]) {
      await page.goto("about:blank")
      await page.goto(`${url}/portal/${hash}`)
      await page.locator("main:not(:has([aria-busy=true])) h1").waitFor()
      expect((await page.locator("header").innerText()).replaceAll("\n", ""), hash).toContain(shown)
      if (hash !== "#/notices" && hash !== "#/deliveries") expect((await page.locator("main").innerText()).replaceAll("\n", ""), hash).toContain(shown)
      expect(await madeOfData(page), hash).toEqual([])
    }
    expect(await page.title()).toContain("<script>")
    expect(await page.title()).not.toContain("\u202e")
    expect(violations.seen).toEqual([])
  })
})
