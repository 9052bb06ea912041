import type { Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { closeBrowserAfterwards, noBrowser } from "./Chromium.ts"
import { deadLetter, idOf, pickupSample, startFakeApi } from "./FakeOperatorApi.ts"
import { openView } from "./OpenView.ts"

closeBrowserAfterwards()

const overflow = (page: Page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)

const delivery = `#/t/acme/deliveries/${idOf(0x1001)}`

describe.skipIf(noBrowser)("the look of the dashboard's page", { timeout: 60_000 }, () => {
  it.each(["light", "dark"] as const)("tells states apart where the system forces its colors, %s ones", async (colorScheme) => {
    const { page } = await openView("#/t/acme/deliveries?state=dead", { forcedColors: "active", colorScheme })
    const box = page.getByRole("checkbox").first()
    await box.check()
    // a check mark of the system's own: a drawn one has the color of the page
    expect(await box.evaluate((field) => getComputedStyle(field).appearance)).toBe("auto")
    const borders = await page.locator(".sections a").evaluateAll((links) => links.map((link) => [link.getAttribute("aria-current"), getComputedStyle(link).borderBottomColor]))
    const background = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor)
    expect(borders.map(([current, color]) => current === "page" ? color !== background : color === background)).toEqual(Array(5).fill(true))
    await page.getByRole("rowheader").first().getByRole("link").click()
    const backgroundOf = (name: string) => page.getByRole("button", { name, exact: true }).evaluate((button) => getComputedStyle(button).backgroundColor)
    await page.getByRole("button", { name: "Hex" }).waitFor()
    expect(await backgroundOf("As sent")).not.toBe(await backgroundOf("Hex"))
    expect(await page.locator(".live").evaluate((live) => getComputedStyle(live, "::before").backgroundColor)).not.toBe(background)
  })

  it("has no overflow and no text over other text when readers space it out", async () => {
    const { page } = await openView(delivery, { viewport: { width: 1300, height: 800 }, bypassCSP: true })
    await page.getByRole("region", { name: "Body as sent" }).waitFor()
    // as in WCAG 1.4.12
    await page.addStyleTag({ content: "* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important } p { margin-bottom: 2em !important }" })
    expect(await overflow(page)).toBeLessThanOrEqual(0)
    const wide = await page.locator(".facts dd").evaluateAll((values) => values.filter((value) => value.scrollWidth > value.clientWidth).map((value) => value.textContent))
    expect(wide).toEqual([])
  })

  it("shows which endpoint it is on a narrow screen, where two differ at their end", async () => {
    const api = await startFakeApi()
    api.freight.subscriptions.splice(1)
    Object.assign(api.freight.subscriptions[0]!, { endpointUrl: "https://webhooks.shipper-number-one.example/orders/of/the/eastern/region" })
    const { page } = await openView("#/t/acme/subscriptions", { api, viewport: { width: 320, height: 740 } })
    const line = page.locator(".line").first()
    await line.waitFor()
    expect(await line.evaluate((line) => line.scrollWidth <= line.clientWidth && line.scrollHeight <= line.clientHeight)).toBe(true)
  })

  it("keeps the words of a state whole beside long names", async () => {
    const api = await startFakeApi()
    api.freight.pickups = [pickupSample(1, { client: `key:${"x".repeat(60)}`, status: "Accepted", waitingFor: null, waitingSince: null, origin: { name: "w".repeat(60), city: "Omaha", state: "NE", zip: "68102" } })]
    const { page } = await openView("#/t/acme/pickups?state=all", { api, viewport: { width: 1920, height: 1000 } })
    const tag = page.locator("td .tag", { hasText: "Accepted" })
    expect(await tag.evaluate((tag) => tag.clientHeight / parseFloat(getComputedStyle(tag).lineHeight))).toBeLessThan(1.5)
    expect(await overflow(page)).toBeLessThanOrEqual(0)
  })

  it("prints a whole body, and no buttons", async () => {
    const api = await startFakeApi()
    api.freight.deliveries.push(deadLetter(400, { body: JSON.stringify({ text: "x".repeat(30_000) }) }))
    const { page } = await openView(`#/t/acme/deliveries/${idOf(0x1000 + 400)}`, { api })
    const block = page.getByRole("region", { name: "Body as sent" })
    await block.waitFor()
    await page.emulateMedia({ media: "print" })
    expect(await block.evaluate((block) => block.scrollHeight - block.clientHeight)).toBeLessThanOrEqual(1)
    expect(await page.getByRole("button").filter({ visible: true }).count()).toBe(0)
  })
})
