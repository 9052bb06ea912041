import type { Page } from "playwright-core"
import { describe, expect, it } from "vitest"
import { closeBrowserAfterwards, noBrowser } from "./Chromium.ts"
import { idOf } from "./FakeOperatorApi.ts"
import { openView } from "./OpenView.ts"

closeBrowserAfterwards()

const isOpen = (page: Page) => page.evaluate(() => document.querySelector("dialog")?.open)

describe.skipIf(noBrowser)("a dialog", { timeout: 60_000 }, () => {
  it("stays open while its action is under way, however often Escape is pressed, and shows how it ended", async () => {
    const { api, page } = await openView(`#/t/acme/subscriptions/${idOf(1)}`)
    await page.getByRole("button", { name: "Purge …" }).click()
    let answer = () => {}
    const answered = new Promise<void>((resolve) => answer = resolve)
    api.override = async ({ method }) => {
      if (method !== "POST") return undefined
      await answered
      return { status: 503, json: { status: 503, title: "Unavailable", detail: "The storage does not answer." } }
    }
    const purge = page.getByRole("dialog").getByRole("button", { name: "Purge" })
    await purge.click()
    for (let n = 0; n < 4; n++) {
      await page.keyboard.press("Escape")
      // a browser closes it behind the page's back, and says so afterwards
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))))
    }
    expect(await isOpen(page)).toBe(true)
    answer()
    await page.getByRole("alert").filter({ hasText: "The storage does not answer." }).waitFor()
    await page.keyboard.press("Escape")
    await page.getByRole("dialog").waitFor({ state: "detached" })
    await page.getByRole("button", { name: "Purge …" }).click()
    await page.getByRole("dialog").waitFor()
  })

  it("does not take the second click of the double click that opened it for a confirmation", async () => {
    const { api, page } = await openView(`#/t/acme/subscriptions/${idOf(1)}`)
    await page.getByRole("button", { name: "Delete …" }).click()
    const confirm = page.getByRole("dialog").getByRole("button", { name: "Delete" })
    const { height, width, x, y } = (await confirm.boundingBox())!
    await page.mouse.move(x + width / 2, y + height / 2)
    await page.mouse.down({ clickCount: 2 })
    await page.mouse.up({ clickCount: 2 })
    expect(await isOpen(page)).toBe(true)
    expect(api.requests.filter(({ method }) => method === "DELETE")).toEqual([])
    await confirm.click()
    await page.getByText("The subscription is deleted.").first().waitFor()
  })

  it.each([
    ["Resume", `#/t/acme/subscriptions/${idOf(3)}`, "Resume …"],
    ["Accept", "#/t/acme/pickups", "Accept pickup"],
    ["Purge all", "#/t/acme/subscriptions?state=paused", "Purge all that match"]
  ])("says that the page does not understand the answer, and not what is missing in it: %s", async (confirm, hash, opener) => {
    const { api, page } = await openView(hash)
    await page.getByRole("button", { name: opener }).first().click()
    for (const json of [{}, null, "text"]) {
      api.override = ({ method }) => method === "POST" ? { status: 200, json } : undefined
      await page.getByRole("dialog").getByRole("button", { name: confirm, exact: true }).click()
      await page.getByRole("alert").filter({ hasText: /^(The server sent a response that this page does not understand|The response is not from Waybill)\. .+ look at the data before you repeat it\.$/ }).waitFor()
    }
  })

  it("is closed when Back changes the filter that it is about", async () => {
    const { api, page, violations } = await openView("#/t/acme/subscriptions?state=active")
    await page.getByRole("button", { name: "Purge all that match" }).waitFor()
    await page.getByLabel("State").selectOption("paused")
    await page.getByRole("button", { name: "Purge all that match" }).click()
    await page.getByRole("dialog").waitFor()
    await page.goBack()
    await page.getByRole("dialog").waitFor({ state: "detached" })
    expect(new URL(page.url()).hash).toBe("#/t/acme/subscriptions?state=active")
    await page.goForward()
    await page.getByRole("button", { name: "Purge all that match" }).waitFor()
    expect(await page.getByRole("dialog").count()).toBe(0)
    expect([api.requests.filter(({ method }) => method !== "GET"), violations.seen]).toEqual([[], []])
  })

  it("tells screen readers what will happen, with its title", async () => {
    const { page } = await openView(`#/t/acme/subscriptions/${idOf(1)}`)
    await page.getByRole("button", { name: "Delete …" }).click()
    await page.getByRole("dialog").waitFor()
    const described = await page.evaluate(() => document.getElementById(document.querySelector("dialog")!.getAttribute("aria-describedby")!)!.textContent)
    expect(described).toMatch(/This cannot be undone\.$/)
  })
})
