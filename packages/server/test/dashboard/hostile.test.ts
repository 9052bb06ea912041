import type { Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { hashOf, type Route } from "../../dashboard/model/routes.ts"
import { closeBrowserAfterwards, noBrowser } from "./Chromium.ts"
import { openView } from "./OpenView.ts"
import { type Freight, idOf, sampleFreight, startFakeApi } from "./FakeOperatorApi.ts"

/** Malicious names, addresses and responses. */
const evil = [
  `<script>pwned=1</script>`,
  `"><img src=x onerror="pwned=2"><svg onload=pwned=3>`,
  `' onmouseover='pwned=4' style='position:fixed`,
  `javascript:pwned=5`,
  `</textarea></style></title><iframe src="https://evil.example">`,
  "${pwned=6} {{constructor.constructor('pwned=7')()}}",
  `<a href="javascript:pwned=8">x</a><base href="https://evil.example/">`,
  "\u001b[31m\u001b]8;;https://evil.example\u0007",
  "\u202egnp.exe\u2066\u0000\u200b",
  "__proto__"
].join("|")

/** Expected output: every character visible and without effect. */
const shown = [...evil].map((each) => /[\u0000-\u001f\u200b\u202e\u2066]/.test(each) ? `U+${each.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}` : each).join("")

/** Appends it to every text of the responses, and to names of fields in documents. */
const infect = (value: unknown, isCode: (text: string) => boolean): any => {
  if (typeof value === "string") return isCode(value) ? value : value + evil
  if (Array.isArray(value)) return value.map((each) => infect(each, isCode))
  return typeof value === "object" && value !== null ? Object.fromEntries(Object.entries(value).map(([name, each]) => [name, infect(each, isCode)])) : value
}

const codes = new Set(["active", "paused", "inactive", "open", "closed", "dead", "delivered", "waiting", "cancelled", "accepted", "gone", "http_5xx", "transit-events", "shipment-status", "freight-charges", "invoices", "pickups"])

const isCode = (text: string) => codes.has(text) || /^\d{4}-\d\d-\d\dT/.test(text) || /^[0-9a-f]{8}-[0-9a-f-]{27}$/.test(text)

const views = (freight: Freight): ReadonlyArray<Route> => {
  const { tenantId } = freight.tenants[0]!
  return [
    { view: "tenants" },
    { view: "subscriptions", tenantId },
    ...freight.subscriptions.slice(0, 3).map(({ subscriptionId }) => ({ view: "subscription", tenantId, subscriptionId }) as const),
    { view: "deliveries", tenantId },
    { view: "deliveries", tenantId, state: "dead" },
    { view: "deliveries", tenantId, state: evil, since: evil, subscriptionId: freight.subscriptions[0]!.subscriptionId },
    { view: "delivery", tenantId, deliveryId: freight.deliveries[0]!.deliveryId },
    { view: "shipments", tenantId, reference: evil },
    { view: "pickups", tenantId, state: "all" },
    { view: "explain", tenantId, subscriptionId: freight.subscriptions[1]!.subscriptionId, by: "eventId", value: evil },
    { view: "journey", tenantId, shipmentId: freight.journey.shipmentId }
  ]
}

/** Elements that data must never create. */
const madeOfData = (page: Page) =>
  page.evaluate(() => [
    ...[...document.querySelectorAll("script, img, iframe, object, embed, base, svg, form[action], [src], [style], [srcdoc], meta[http-equiv]")]
      .filter((element) => !element.matches("head > script[type=module], figure.chart > svg, figure.map > svg, svg.strip")).map((element) => element.outerHTML),
    ...[...document.querySelectorAll("*")].flatMap((element) => [...element.attributes].filter(({ name }) => name.startsWith("on")).map(({ name }) => `${element.tagName} ${name}`)),
    ...[...document.querySelectorAll("a")].map((link) => link.getAttribute("href")!).filter((href) => !href.startsWith("#")).map((href) => `link to ${href}`)
  ])

closeBrowserAfterwards()

describe.skipIf(noBrowser)("the dashboard's page with malicious data", { timeout: 60_000 }, () => {
  it.each([["every text", () => false], ["every text but codes, ids and instants", isCode]] as const)("shows %s as text, and executes none of it", async (_, isCode) => {
    const freight: Freight = infect(sampleFreight(), isCode)
    freight.deliveries.splice(8)
    const api = await startFakeApi(freight)
    const { violations, page } = await openView("", { api })
    for (const route of views(freight)) {
      await page.goto(`${api.url}/dashboard/${hashOf(route)}`)
      // A change of the hash alone keeps the previous view for a moment.
      await page.reload()
      await page.locator("main:not(:has([aria-busy=true]))").waitFor()
      for (const summary of await page.locator("summary").all()) await summary.click()
      for (const way of ["Hex", "Indented", "As sent"]) if (route.view === "delivery") await page.getByRole("button", { name: way }).click()
      const text = await page.locator("main").innerText()
      const tellsTexts = route.view !== "deliveries" && (route.view !== "subscription" || isCode(route.subscriptionId))
      if (tellsTexts) expect(text.replaceAll("\n", ""), hashOf(route)).toContain(shown)
      expect(await madeOfData(page), hashOf(route)).toEqual([])
      const retry = page.getByRole("button", { name: /^Retry(?! selected)/, disabled: false })
      if (await retry.count() > 0) {
        await retry.first().click()
        expect(await madeOfData(page), hashOf(route)).toEqual([])
        await page.getByRole("button", { name: "Cancel" }).click()
      }
    }
    expect(await page.title()).toContain("<script>")
    expect(await page.title()).not.toContain("\u202e")
    expect(violations.seen).toEqual([])
  })

  it("leaves the other columns their width when a customer sends a very long word", async () => {
    const freight = sampleFreight()
    Object.assign(freight.pickups[0]!.origin, { name: "N".repeat(500) })
    const { page } = await openView("#/t/acme/pickups?state=all", { api: await startFakeApi(freight), viewport: { width: 1300, height: 900 } })
    await page.getByRole("table").waitFor()
    const lines = await page.getByRole("columnheader").evaluateAll((headers) => headers.map((header) => {
      const text = document.createRange()
      text.selectNodeContents(header)
      return text.getClientRects().length
    }))
    // the heading of the address has two words
    expect(Math.max(...lines)).toBeLessThanOrEqual(2)
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
  })

  it("leaves ids and numbers of tenants in one line beside a very long name", async () => {
    const freight = sampleFreight()
    freight.tenants.push({ ...freight.tenants[0]!, tenantId: "gamma", name: "N".repeat(200) })
    const { page } = await openView("#/", { api: await startFakeApi(freight), viewport: { width: 1280, height: 900 } })
    await page.getByRole("rowheader", { name: "gamma" }).waitFor()
    const lines = await page.locator("tbody th, tbody .number").evaluateAll((cells) => cells.map((cell) => {
      const text = document.createRange()
      text.selectNodeContents(cell)
      return new Set([...text.getClientRects()].map(({ top }) => Math.round(top / 10))).size
    }))
    expect(Math.max(...lines)).toBe(1)
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
  })

  it("escapes the error messages of a server in the same way", async () => {
    const api = await startFakeApi()
    api.override = () => ({ status: 400, json: { status: 400, title: evil, detail: evil } })
    const { violations, page } = await openView("#/t/acme/subscriptions", { api })
    await page.locator(".failure").waitFor()
    expect(await page.locator(".failure").innerText()).toBe(shown)
    expect(await madeOfData(page)).toEqual([])
    expect(violations.seen).toEqual([])
  })

  it("reports an unexpected response, and recovers after the next valid one", async () => {
    const { api, violations, page } = await openView("")
    for (const json of [evil, { data: [{}] }, { data: [null], entries: {} }]) {
      api.override = () => ({ status: 200, json })
      for (const hash of ["#/t/acme/subscriptions", "#/t/acme/deliveries", `#/t/acme/deliveries/${idOf(0x1001)}`, "#/t/acme/shipments?reference=x", "#/t/acme/shipments/S-1"]) {
        await page.goto("about:blank")
        await page.goto(`${api.url}/dashboard/${hash}`)
        await page.locator(".failure").waitFor()
        await page.getByRole("button", { name: "Forget key" }).waitFor()
      }
    }
    api.override = undefined
    await page.getByRole("button", { name: "Try again" }).click()
    await page.getByRole("heading", { name: "Journey" }).waitFor()
    expect(violations.seen).toEqual([])
  })

  it("has a policy that blocks an injected script", async () => {
    const { violations, page } = await openView("")
    await page.getByRole("table").waitFor()
    const outcomes = await page.evaluate(async () => {
      const attempt = (act: () => unknown) => {
        try {
          act()
          return "done"
        } catch (error) {
          return (error as Error).name
        }
      }
      const script = document.createElement("script")
      return {
        html: attempt(() => void (document.body.innerHTML = "<b>x</b>")),
        source: attempt(() => void (script.src = "https://evil.example/x.js")),
        policy: attempt(() => (globalThis as any).trustedTypes.createPolicy("default", {})),
        text: attempt(() => void (script.textContent = "pwned=9")),
        elsewhere: await fetch("https://evil.example/").then(() => "done", (error: Error) => error.name)
      }
    })
    expect(outcomes).toEqual({ html: "TypeError", source: "TypeError", policy: "TypeError", text: "TypeError", elsewhere: "TypeError" })
    // Violations are reported asynchronously; the other tests rely on these reports.
    await expect.poll(() => violations.seen.filter((what) => what.startsWith("policy: ")).length).toBe(5)
  })
})
