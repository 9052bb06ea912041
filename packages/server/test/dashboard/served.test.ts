import { PickupsClient, TransitEventsClient } from "@waybill/client"
import type { Page } from "playwright-core"
import { describe, expect, inject, it } from "vitest"
import { eventually, Program, receiver, sharedSettings } from "../program/Program.ts"
import { account, event, leastOrder, tenantOn } from "../program/Tenant.ts"
import { closeBrowserAfterwards, noBrowser, visit } from "./Chromium.ts"

const pgUrl = inject("pgUrl")

closeBrowserAfterwards()

const evil = `<img src=x onerror="pwned=1"><script>pwned=2</script>\u202e`

const stops = [
  { city: "Chicago", state: "IL", country: "USA", latitude: 41.88, longitude: -87.63 },
  { city: "Omaha", state: "NE", country: "USA", latitude: 41.26, longitude: -95.93 },
  { city: "Denver", state: "CO", country: "USA", latitude: 39.74, longitude: -104.99 }
]

/** On the page of a tenant. */
const acceptOnPage = async (page: Page, number: string) => {
  await page.getByRole("link", { name: "Pickups" }).click()
  await page.getByRole("button", { name: /^Accept pickup …/ }).click()
  const dialog = page.getByRole("dialog")
  await dialog.getByLabel("Confirmation number").fill(number)
  await dialog.getByLabel("SCAC").fill("WAYB")
  await dialog.getByRole("button", { name: "Accept" }).click()
  await page.getByText(`Its confirmation number is ${number}.`).first().waitFor()
}

describe("the dashboard, served by the program", { timeout: 60_000 }, () => {
  it("is served with the service, unless the process only delivers or it is disabled", async () => {
    const { env } = sharedSettings(pgUrl)
    const [all, worker, without] = await Promise.all([{}, { WAYBILL_ROLE: "worker" }, { WAYBILL_DASHBOARD: "off" }].map((more) => new Program({ env: { ...env, ...more } }).ready()))
    const status = async (url: string | undefined, path: string) => (await fetch(url + path, { redirect: "manual" })).status
    expect([await status(all, "/dashboard"), await status(all, "/dashboard/"), await status(all, "/dashboard/nothing"), await status(all, "/docs")]).toEqual([302, 200, 404, 200])
    expect([await status(worker, "/dashboard/"), await status(without, "/dashboard/")]).toEqual([404, 404])
    const code = async (url: string | undefined, path: string) => (await (await fetch(url + path)).json() as { code: string }).code
    expect([await code(all, "/dashboard/nothing"), await code(worker, "/dashboard/"), await code(worker, "/visibility/v1/events")]).toEqual(Array(3).fill("path_not_found"))
    expect(await (await fetch(all!)).text()).toContain(`<a href="dashboard/">`)
    expect(await (await fetch(without!)).text()).not.toContain("dashboard")
  })

  it.skipIf(noBrowser)("shows a receiver's failure, sends the dead letter again, shows the shipment's journey, and answers a shipper's call with a decision", async () => {
    const { env, operatorKey } = sharedSettings(pgUrl)
    const url = await new Program({ env: { ...env, WAYBILL_PICKUPS: "desk", WAYBILL_PICKUP_DESK_SECONDS: "120" } }).ready()
    const tenant = await tenantOn(url, operatorKey)
    let works = false
    const hook = await receiver((_, response) => void response.writeHead(works ? 200 : 500, { "content-type": "text/html" }).end(evil))
    const endpointUrl = `${hook.url}/hook?${encodeURIComponent(evil)}&<b>'`
    const { key } = await tenant.operator.createApiKey("acme", { name: "shipper-tms", roles: ["customer"], accounts: [account] })
    await new TransitEventsClient({ baseUrl: url, apiKey: key }).createSubscription({ endpointUrl, hmacSecretId: "main", delivery: { maxAttempts: 1 } })
    await tenant.intakeAt(url).publishTransitEvents([{ ...event("S-1", 1), status: evil }])
    await eventually(async () => (await tenant.operator.listDeliveries("acme", { state: "dead" })).data[0])

    const { violations, page } = await visit(url)
    await page.goto(`${url}/dashboard`)
    await page.getByLabel("Operator key").fill(operatorKey)
    await page.keyboard.press("Enter")
    await page.getByRole("link", { name: "acme" }).click()
    const subscription = page.getByRole("row").filter({ hasText: "shipper-tms" })
    await subscription.getByText("1 dead letter", { exact: true }).waitFor()
    await subscription.getByRole("rowheader").getByRole("link").click()
    await page.getByRole("heading", { name: "Dead letters" }).waitFor()
    await page.getByRole("rowheader").first().getByRole("link").click()
    await page.getByText("HTTP 500").waitFor()
    expect(await page.getByRole("region", { name: "Answer to attempt 1" }).innerText()).toContain(`<img src=x onerror="pwned=1"><script>pwned=2</script>`)
    const [sent] = hook.receptions
    expect((await page.getByRole("region", { name: "Body as sent" }).innerText()).replaceAll("U+202E", "\u202e")).toBe(sent!.body)

    works = true
    await page.getByRole("button", { name: "Retry" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Send again" }).click()
    await page.getByText(/^Delivery …[0-9a-f]{6} is queued again\.$/).first().waitFor()
    await page.getByText("delivered", { exact: true }).waitFor()
    expect(hook.receptions.map(({ body, id }) => [id, body])).toEqual([[sent!.id, sent!.body], [sent!.id, sent!.body]])

    await page.getByRole("link", { name: "Shipments" }).click()
    await page.getByLabel("PRO, BOL or PO number").fill("S-1")
    await page.keyboard.press("Enter")
    await page.getByRole("link", { name: "S-1" }).click()
    await page.locator("ol.timeline > li").filter({ hasText: "Transit events" }).filter({ hasText: "<img src=x onerror=" }).first().waitFor()
    await page.getByRole("heading", { name: "Deliveries of this shipment" }).waitFor()
    await page.getByRole("rowheader").getByText(`…${sent!.id.slice(-6)}`).waitFor()

    const answered = new PickupsClient({ baseUrl: url, apiKey: key, timeoutMillis: 120_000 }).create(leastOrder)
    await eventually(async () => (await tenant.operator.listPickups("acme", { state: "waiting" })).data[0])
    await acceptOnPage(page, "C-4711")
    expect(await answered).toMatchObject([{ pickupStatus: "Accept", carrierPickupNumber: "C-4711", scac: "WAYB" }])
    const [decided] = (await tenant.operator.listPickups("acme")).data
    expect(decided).toMatchObject({ confirmationNumber: "C-4711", status: "Accepted", client: "key:shipper-tms", waitingFor: null })
    await page.getByText("No pickup waits for a decision.").waitFor()

    await tenant.intakeAt(url).publishTransitEvents(stops.map((location, n) => ({ ...event("S-2", n + 1), occurredAt: `2026-11-20T0${n + 7}:00:00Z`, location })))
    await page.getByRole("link", { name: "Shipments" }).click()
    await page.getByLabel("PRO, BOL or PO number").fill("S-2")
    await page.keyboard.press("Enter")
    await page.getByRole("link", { name: "S-2" }).click()
    await page.getByRole("heading", { name: "Map" }).waitFor()
    expect(await page.getByRole("table", { name: "3 stops" }).getByRole("rowheader").allInnerTexts()).toEqual(["Chicago, IL", "Omaha, NE", "Denver, CO"])
    const [chicago, omaha, denver] = await page.locator(".map circle").evaluateAll((circles) => circles.map((circle) => circle.getBoundingClientRect().x))
    expect([denver! < omaha!, omaha! < chicago!]).toEqual([true, true])
    expect(violations.seen).toEqual([])
  })
})
