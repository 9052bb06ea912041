import { describe, expect, it } from "vitest"
import { eventually } from "../program/Program.ts"
import { closeBrowserAfterwards, noBrowser } from "./Chromium.ts"
import { idOf, pickupSample, startFakeApi } from "./FakeOperatorApi.ts"
import { openView } from "./OpenView.ts"

const ending = (n: number) => idOf(0x2000 + n).slice(-6)

closeBrowserAfterwards()

describe.skipIf(noBrowser)("the pickups of the dashboard's page", { timeout: 60_000 }, () => {
  it("show those that wait first, the oldest order on top, and all on request", async () => {
    const { page } = await openView("#/t/acme/subscriptions")
    await page.getByRole("link", { name: "Pickups" }).click()
    const rows = page.getByRole("row").filter({ has: page.getByRole("rowheader") })
    await rows.first().waitFor()
    const texts = await rows.allInnerTexts()
    expect(texts.map((text) => /(\w+) waits/.exec(text)![1])).toEqual(["order", "change"])
    expect(texts[0]).toContain("Closets, Chicago, IL 60601")
    expect(texts[0]).toContain("2026-11-21 08:00 to 16:00, America/Chicago")
    await page.getByLabel("Show").selectOption("all")
    await eventually(async () => await rows.count() === 3 || undefined)
    expect(new URL(page.url()).hash).toBe("#/t/acme/pickups?state=all")
    expect((await rows.nth(1).innerText())).toMatch(/100000002[^]*Accepted[^]*ABC Lines, ABCD/)
    expect(await rows.nth(1).getByRole("button").count()).toBe(0)
  })

  it("keep the order of an address whose name is written from right to left", async () => {
    const api = await startFakeApi()
    api.freight.pickups.splice(0, 3, pickupSample(5, { origin: { name: "\u0634\u0631\u0643\u0629 \u0627\u0644\u0634\u062d\u0646", city: "Omaha", state: "NE", zip: "68102" } }))
    const { page } = await openView("#/t/acme/pickups", { api })
    const address = page.getByRole("cell", { name: "Omaha" })
    await address.waitFor()
    const [name, city] = await address.locator("bdi").evaluateAll((parts) => parts.map((part) => part.getBoundingClientRect().x))
    expect(name).toBeLessThan(city!)
  })

  it("are accepted with number, SCAC, carrier and message, rejected, and answered with a call, by keyboard too", async () => {
    const api = await startFakeApi()
    api.freight.pickups.push(pickupSample(4))
    const { page, violations } = await openView("#/t/acme/pickups", { api })
    const dialog = page.getByRole("dialog")
    const accept = page.getByRole("button", { name: `Accept pickup …${ending(1)}` })
    await accept.focus()
    await page.keyboard.press("Enter")
    await dialog.waitFor()
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
    await accept.and(page.locator(":focus")).waitFor()
    await page.keyboard.press("Enter")
    await dialog.getByLabel("Confirmation number").fill(" C-77 ")
    await dialog.getByLabel("SCAC").fill("ABCD")
    await dialog.getByLabel("Carrier name").fill("ABC Lines")
    await dialog.getByLabel("Message for the shipper").fill("See you.")
    await page.keyboard.press("Enter")
    await page.getByText("The order is accepted. Its confirmation number is C-77.").first().waitFor()
    await accept.waitFor({ state: "detached" })

    await page.getByRole("button", { name: "Reject pickup 100000003" }).click()
    await page.getByRole("dialog", { name: "Reject the change of pickup 100000003?" }).getByRole("button", { name: "Reject" }).click()
    await page.getByText("The change is rejected.").first().waitFor()

    await page.getByRole("button", { name: `Ask to call pickup …${ending(4)}` }).click()
    await dialog.getByLabel("Message for the shipper").fill("Call dispatch.")
    await dialog.getByRole("button", { name: "Ask to call" }).click()
    await page.getByText("No pickup waits for a decision.").waitFor()
    expect(api.requests.filter(({ method }) => method === "POST").map(({ body, path }) => [path, body])).toEqual([
      [`/acme/pickups/${idOf(0x2001)}/decision`, { decision: "accept", confirmationNumber: "C-77", scac: "ABCD", carrierName: "ABC Lines", message: "See you." }],
      [`/acme/pickups/${idOf(0x2003)}/decision`, { decision: "reject" }],
      [`/acme/pickups/${idOf(0x2004)}/decision`, { decision: "call", message: "Call dispatch." }]
    ])
    expect(violations.seen).toEqual([])
  })

  it("keep the dialog open with the reason when the server refuses a decision", async () => {
    const { api, page } = await openView("#/t/acme/pickups")
    const detail = "Pickup 1 is decided already, its status is Accepted."
    api.override = ({ method }) => method === "POST" ? { status: 409, json: { status: 409, title: "Conflict", detail } } : undefined
    await page.getByRole("button", { name: `Reject pickup …${ending(1)}` }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Reject" }).click()
    await page.getByRole("alert").getByText(detail).waitFor()
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click()
    expect(await page.getByRole("rowheader").count()).toBe(2)
  })
})
