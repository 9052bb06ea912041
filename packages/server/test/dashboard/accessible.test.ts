import axe from "axe-core"
import type { Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { eventually } from "../program/Program.ts"
import { closeBrowserAfterwards, noBrowser, visit } from "./Chromium.ts"
import { advanceUntil, openView } from "./OpenView.ts"
import { deadLetter, idOf, key, sampleFreight, startFakeApi } from "./FakeOperatorApi.ts"

interface Stop {
  readonly what: string
  readonly hash: string
  /** Shown when the page is ready to be checked. */
  readonly until: (page: Page) => Promise<unknown>
}

const table = (page: Page) => page.getByRole("table").first().waitFor()
const press = (name: string) => async (page: Page) => {
  await page.getByRole("button", { name }).first().click()
  await page.getByRole("dialog").waitFor()
}

const chartNumbers = async (page: Page) => {
  await page.getByText("Numbers of the last hour").click()
  await page.getByRole("table", { name: "Newest first, 60 rows" }).waitFor()
}

const stops: ReadonlyArray<Stop> = [
  { what: "tenants", hash: "#/", until: table },
  { what: "subscriptions", hash: "#/t/acme/subscriptions", until: table },
  { what: "a subscription", hash: `#/t/acme/subscriptions/${idOf(4)}`, until: table },
  { what: "charts as a table", hash: `#/t/acme/subscriptions/${idOf(4)}`, until: chartNumbers },
  { what: "recovering", hash: `#/t/acme/subscriptions/${idOf(4)}`, until: press("Recover dead letters") },
  { what: "changing settings", hash: `#/t/acme/subscriptions/${idOf(4)}`, until: press("Change") },
  { what: "replaying", hash: `#/t/acme/subscriptions/${idOf(4)}`, until: press("Replay") },
  { what: "deliveries", hash: "#/t/acme/deliveries", until: table },
  { what: "dead letters", hash: "#/t/acme/deliveries?state=dead", until: table },
  { what: "retrying all that match", hash: "#/t/acme/deliveries?state=dead&since=2026-11-01T00%3A00%3A00.000Z", until: press("Retry all that match") },
  { what: "no dead letters", hash: `#/t/acme/deliveries?state=dead&subscriptionId=${idOf(99)}`, until: (page) => page.getByText("No dead letter matches.").waitFor() },
  { what: "a delivery", hash: `#/t/acme/deliveries/${idOf(0x1001)}`, until: (page) => page.getByRole("region", { name: "Body as sent" }).waitFor() },
  { what: "retrying", hash: `#/t/acme/deliveries/${idOf(0x1001)}`, until: press("Retry") },
  { what: "shipments", hash: "#/t/acme/shipments?reference=0418367745", until: table },
  {
    what: "a shipment",
    hash: "#/t/acme/shipments/S-1",
    until: async (page) => {
      await page.locator("summary").first().click()
      await page.getByText("\"pickup\": true").waitFor()
    }
  },
  { what: "an explanation", hash: `#/t/acme/explain?subscriptionId=${idOf(2)}&by=eventId&value=E-1`, until: table },
  { what: "pickups", hash: "#/t/acme/pickups", until: table },
  { what: "accepting", hash: "#/t/acme/pickups", until: press("Accept") },
  { what: "no subscription", hash: `#/t/acme/subscriptions/${idOf(99)}`, until: (page) => page.getByText("Subscription not found.").waitFor() },
  { what: "nowhere", hash: "#/nowhere", until: (page) => page.getByRole("heading", { name: "Page not found" }).waitFor() }
]

/** Checks only the given axe rules, if any. */
const violations = async (page: Page, rules?: ReadonlyArray<string>) => {
  const options: axe.RunOptions = { resultTypes: ["violations"], preload: false, ...rules === undefined ? {} : { runOnly: [...rules] } }
  const { violations } = await page.evaluate((options) => (globalThis as any).axe.run(document, options), options as any) as axe.AxeResults
  return violations.map(({ help, id, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(" … ")}`)
}

const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)

closeBrowserAfterwards()

describe.skipIf(noBrowser)("the accessibility of the dashboard's page", { timeout: 60_000 }, () => {
  it.each([
    ["in dark colours on a telephone", { colorScheme: "dark", viewport: { width: 320, height: 740 } }, undefined],
    // The same page with other colours and less space.
    ["in light colours at twice the size", { colorScheme: "light", viewport: { width: 640, height: 400 }, deviceScaleFactor: 2 }, ["color-contrast", "target-size"]]
  ] as const)("has no fault that axe knows, and no overflow, %s", async (_, options, rules) => {
    const freight = sampleFreight()
    freight.deliveries.splice(8)
    // a second page, so that all that match can be retried
    for (let n = 0; n < 50; n++) freight.deliveries.push(deadLetter(0x3000 + n))
    const api = await startFakeApi(freight)
    const { context, page } = await openView("#/", { api, ...options })
    await context.addInitScript(axe.source)
    await page.reload()
    for (const { hash, until, what } of stops) {
      await page.goto(`${api.url}/dashboard/${hash}`)
      await until(page)
      expect(await violations(page, rules), what).toEqual([])
      expect(await overflow(page), what).toBeLessThanOrEqual(0)
      await page.keyboard.press("Escape")
    }
  })

  it("has no fault in the key form, and announces its errors", async () => {
    const api = await startFakeApi()
    const { context, page } = await visit(api.url, { viewport: { width: 320, height: 740 } })
    await context.addInitScript(axe.source)
    await page.goto(`${api.url}/dashboard/`)
    await page.getByLabel("Operator key").and(page.locator(":focus")).waitFor()
    await page.keyboard.type("a-guess")
    await page.keyboard.press("Enter")
    await page.getByRole("alert").waitFor()
    expect(await violations(page)).toEqual([])
    await page.keyboard.type(key)
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Tenants" }).waitFor()
    await page.locator("h1:focus", { hasText: "Tenants" }).waitFor()
  })

  it.each(["light", "dark"] as const)("draws borders and secondary text in the color of the text where more contrast is wanted, in %s colours", async (colorScheme) => {
    const { page } = await openView("#/t/acme/subscriptions", { contrast: "more", colorScheme })
    const colors = () => page.getByLabel("Client").evaluate((field) =>
      [getComputedStyle(document.body).color, getComputedStyle(field).borderTopColor === getComputedStyle(field).color, getComputedStyle(document.querySelector("caption")!).color] as const)
    await page.getByRole("table").first().waitFor()
    const [text, hasBorder, caption] = await colors()
    expect([hasBorder, caption]).toEqual([true, text])
  })

  it("works by keyboard alone: skip link, subscription, dialog and back", async () => {
    const { page } = await openView("#/t/acme/subscriptions")
    await page.getByRole("table").waitFor()
    await page.getByLabel("Point in time").waitFor()
    await page.keyboard.press("Tab")
    expect(await page.evaluate(() => document.activeElement!.textContent)).toBe("Skip to the content")
    await page.keyboard.press("Enter")
    // the filters: state, client, endpoint, last attempt
    for (const tag of ["SELECT", "INPUT", "INPUT", "SELECT"]) {
      await page.keyboard.press("Tab")
      expect(await page.evaluate(() => document.activeElement!.tagName)).toBe(tag)
    }
    // the charts: their time, a point in them, and their numbers
    for (const tag of ["SELECT", "INPUT", "SUMMARY"]) {
      await page.keyboard.press("Tab")
      expect(await page.evaluate(() => document.activeElement!.tagName)).toBe(tag)
      if (tag !== "INPUT") continue
      const read = () => page.getByLabel("Point in time").getAttribute("aria-valuetext")
      const last = await read()
      await page.keyboard.press("ArrowLeft")
      expect(await read()).not.toBe(last)
    }
    await page.keyboard.press("Tab")
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Dead letters" }).waitFor()
    await page.locator("h1:focus").waitFor()
    await page.keyboard.press("Tab")
    const opener = await page.evaluate(() => document.activeElement!.textContent)
    expect(opener).toMatch(/^(Pause|Resume) …$/)
    await page.keyboard.press("Space")
    await page.getByRole("dialog", { name: /^(Pause|Resume) subscription …[0-9a-f]{6}\?$/ }).waitFor()
    // The focus stays inside.
    for (let n = 0; n < 6; n++) {
      await page.keyboard.press("Tab")
      expect(await page.evaluate(() => document.activeElement === document.body || document.querySelector("dialog")!.contains(document.activeElement))).toBe(true)
    }
    await page.keyboard.press("Escape")
    await page.locator(":focus", { hasText: opener! }).waitFor()
  })

  it("moves the focus to the result of an action, and keeps it on the button of an action that failed", async () => {
    const { api, page } = await openView("#/t/acme/deliveries?state=dead")
    const retry = page.getByRole("button", { name: /^Retry delivery/ })
    const send = page.getByRole("button", { name: "Send again" })
    await retry.first().focus()
    await page.keyboard.press("Enter")
    await send.focus()
    api.override = ({ method }) => method === "POST" ? { status: 503, json: { status: 503, title: "Unavailable" } } : undefined
    await page.keyboard.press("Enter")
    await page.getByRole("alert").waitFor()
    await send.and(page.locator(":focus")).waitFor()
    api.override = undefined
    await page.keyboard.press("Enter")
    await page.locator(":focus", { hasText: /^Delivery …[0-9a-f]{6} is queued again\.$/ }).waitFor()
    await eventually(async () => await retry.count() === 2 || undefined)
    await page.locator(":focus", { hasText: /^Delivery …[0-9a-f]{6} is queued again\.$/ }).waitFor()
  })

  it("keeps the focus in a search, and announces what it found", async () => {
    const { page } = await openView("#/t/acme/shipments", { controlledClock: true })
    const announced = (text: string) => advanceUntil(page, page.locator("[aria-live=polite]", { hasText: text }))
    await page.getByLabel("PRO, BOL or PO number").fill("0418367745")
    await page.keyboard.press("Enter")
    await announced("1 shipment found for 0418367745.")
    await page.getByLabel("PRO, BOL or PO number").and(page.locator(":focus")).waitFor()
    await page.getByRole("link", { name: "S-1" }).click()
    await page.getByRole("link", { name: "Explain a missing delivery" }).click()
    await page.getByLabel("Subscription", { exact: true }).fill(idOf(2))
    await page.keyboard.press("Enter")
    await announced("Waiting for the subscription to be resumed.")
    await page.getByLabel("Subscription", { exact: true }).and(page.locator(":focus")).waitFor()
    expect(await page.getByLabel("Find by").inputValue()).toBe("shipmentId")
  })

  it("announces why a view cannot be shown", async () => {
    const api = await startFakeApi()
    api.override = () => ({ status: 404, json: { status: 404, title: "Not found", detail: "No tenant acmee." } })
    const { page } = await openView("#/t/acmee/deliveries", { api })
    await page.locator("[aria-live=polite]", { hasText: "No tenant acmee." }).waitFor({ state: "attached" })
  })

  it("keeps what is typed before a slow browser has painted the view", async () => {
    const { page } = await openView("#/t/acme/shipments/S-1", { controlledClock: true })
    await page.getByRole("link", { name: "Explain a missing delivery" }).waitFor()
    // effects run after a frame, which comes with the clock
    await page.clock.pauseAt(Date.now() + 60_000)
    await page.getByRole("link", { name: "Explain a missing delivery" }).click()
    const field = page.getByLabel("Subscription", { exact: true })
    await field.fill(idOf(2))
    await page.clock.runFor(1_000)
    expect(await field.inputValue()).toBe(idOf(2))
    await page.goBack()
    await page.getByRole("heading", { name: "Journey" }).waitFor()
    await page.goForward()
    expect(await field.inputValue()).toBe("")
  })
})
