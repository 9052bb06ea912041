import { describe, expect, it } from "vitest"
import { eventually } from "../program/Program.ts"
import { closeBrowserAfterwards, noBrowser } from "./Chromium.ts"
import { idOf, key } from "./FakeOperatorApi.ts"
import { openView } from "./OpenView.ts"

closeBrowserAfterwards()

const refused = { status: 401, json: { status: 401, title: "Unauthorized", detail: "These credentials are not valid." } }

describe.skipIf(noBrowser)("text that is typed into a dialog and not sent", { timeout: 60_000 }, () => {
  it("is kept while the key is asked for again, and the dialog says that nothing was done", async () => {
    const { api, page, violations } = await openView(`#/t/acme/subscriptions/${idOf(1)}`)
    await page.getByRole("button", { name: "Change …" }).click()
    const shipments = page.getByLabel("Only these shipments")
    await shipments.fill("S-1\nS-2")
    api.override = ({ method }) => method === "PATCH" ? refused : undefined
    await page.getByRole("button", { name: "Change", exact: true }).click()
    const field = page.getByLabel("Operator key")
    await field.and(page.locator(":focus")).waitFor()
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
    // a repeated Escape closes dialogs, whatever a page says
    for (let n = 0; n < 3; n++) await page.keyboard.press("Escape")
    api.override = undefined
    await field.fill(key)
    await page.keyboard.press("Enter")
    await page.getByRole("alert").filter({ hasText: /^Nothing was done: the key was refused\. Confirm again\.$/ }).waitFor()
    await field.waitFor({ state: "detached" })
    await page.waitForFunction((title) => document.title === title, `Subscription ${idOf(1)} · Waybill`)
    expect(await shipments.inputValue()).toBe("S-1\nS-2")
    await page.getByRole("button", { name: "Change", exact: true }).click()
    await page.getByText("The subscription is changed.").first().waitFor()
    expect(api.requests.filter(({ method }) => method === "PATCH").map(({ body }) => body)).toEqual(Array(2).fill({ filters: { shipmentIds: ["S-1", "S-2"] } }))
    expect(violations.seen).toEqual([])
  })

  it("does not send again what was done before the key was refused", async () => {
    const { api, page } = await openView("#/t/acme/deliveries?state=dead")
    await eventually(async () => await page.getByRole("rowheader").count() === 3 || undefined)
    await page.getByRole("button", { name: "Select all on this page" }).click()
    await page.getByRole("button", { name: "Retry 3 selected" }).click()
    const retries = () => api.requests.filter(({ method }) => method === "POST").length
    api.override = () => retries() > 1 ? refused : undefined
    await page.getByRole("dialog").getByRole("button", { name: "Send 3 deliveries again" }).click()
    const field = page.getByLabel("Operator key")
    await field.waitFor()
    api.override = undefined
    await field.fill(key)
    await page.keyboard.press("Enter")
    await page.getByText("1 of 3 deliveries are queued again. The others: The key was refused.").first().waitFor()
    await eventually(async () => await page.getByRole("rowheader").count() === 2 || undefined)
    expect(retries()).toBe(2)
  })

  it("makes the browser ask before it leaves the page, until the dialog is closed", async () => {
    const { page, violations } = await openView(`#/t/acme/subscriptions/${idOf(1)}`)
    await page.getByRole("button", { name: "Pause …" }).click()
    await page.getByLabel("Reason").fill("Their endpoint moves.")
    const asked = page.waitForEvent("dialog")
    await page.evaluate(() => location.reload())
    expect((await asked).type()).toBe("beforeunload")
    expect(await page.getByLabel("Reason").inputValue()).toBe("Their endpoint moves.")
    await page.getByRole("button", { name: "Cancel" }).click()
    await page.getByRole("dialog").waitFor({ state: "detached" })
    await page.reload()
    await page.getByRole("button", { name: "Pause …" }).waitFor()
    expect(violations.seen).toEqual(["dialog: "])
  })

  it("is lost by Back only after a question", async () => {
    const { page, violations } = await openView("#/t/acme/subscriptions")
    const [list, shown] = ["#/t/acme/subscriptions", `#/t/acme/subscriptions/${idOf(1)}`]
    const hash = () => new URL(page.url()).hash
    await page.getByRole("link", { name: "shipper-1" }).first().waitFor()
    await page.evaluate((hash) => void (location.hash = hash), shown)
    await page.getByRole("button", { name: "Pause …" }).click()
    await page.getByLabel("Reason").fill("Their endpoint moves.")
    for (let n = 0; n < 2; n++) {
      await page.goBack()
      await eventually(() => hash() === shown || undefined)
      expect(await page.getByLabel("Reason").inputValue()).toBe("Their endpoint moves.")
    }
    expect(violations.seen).toEqual(Array(2).fill("dialog: Leave this view? What you typed is not sent, and is lost."))
    page.removeAllListeners("dialog")
    page.once("dialog", (dialog) => void dialog.accept())
    await page.goBack()
    await page.getByRole("dialog").waitFor({ state: "detached" })
    expect(hash()).toBe(list)
    // nothing is left to ask about
    await page.goForward()
    await page.getByRole("button", { name: "Pause …" }).waitFor()
    expect(await page.getByRole("dialog").count()).toBe(0)
    await page.reload()
  })
})
