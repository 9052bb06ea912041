import { describe, expect, it } from "vitest"
import { eventually } from "../program/Program.ts"
import { closeBrowserAfterwards, noBrowser, visit } from "./Chromium.ts"
import { advanceUntil, openView } from "./OpenView.ts"
import { deadLetter, deliverySample, idOf, instantOf, key, subscriptionSample, startFakeApi } from "./FakeOperatorApi.ts"

closeBrowserAfterwards()

describe.skipIf(noBrowser)("the dashboard's page", { timeout: 60_000 }, () => {
  it("opens with the operator key only, stores it for this tab, and removes it on sign-out", async () => {
    const api = await startFakeApi()
    const visited = await visit(api.url)
    const { context, violations, page } = visited
    await page.goto(`${api.url}/dashboard`)
    const field = page.getByLabel("Operator key")
    for (const guess of ["a-guess", "a guess\u00fc"]) {
      await field.fill(guess)
      await page.keyboard.press("Enter")
      await page.getByText("Invalid operator key.").waitFor()
      await page.reload()
    }
    await field.fill(key)
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Tenants" }).waitFor()
    expect(await page.evaluate(() => [sessionStorage.length, localStorage.length, document.cookie])).toEqual([1, 0, ""])

    await page.reload()
    await page.getByRole("link", { name: "acme" }).click()
    await page.getByRole("table").waitFor()
    expect(new URL(page.url()).hash).toBe("#/t/acme/subscriptions")

    const other = await context.newPage()
    await other.goto(page.url())
    await other.getByLabel("Operator key").waitFor()
    await other.close()

    await page.getByRole("button", { name: "Forget key" }).click()
    await field.waitFor()
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
    expect(violations.seen.filter((what) => !what.startsWith("opened"))).toEqual([])
  })

  it("accepts a key with its name, and explains what a read-only one may not do", async () => {
    const api = await startFakeApi()
    const { page } = await visit(api.url)
    await page.goto(`${api.url}/dashboard`)
    await page.getByLabel("Operator key").fill(`grafana:read:${key}`)
    await page.keyboard.press("Enter")
    await page.getByRole("heading", { name: "Tenants" }).waitFor()
    const detail = "This operator is read-only and cannot read bodies of deliveries."
    api.override = ({ path }) =>
      /\/deliveries\/[^/]+$/.test(path) ? { status: 403, json: { status: 403, title: "Forbidden", detail, code: "operator_read_only" } } : undefined
    await page.goto(`${api.url}/dashboard/#/t/acme/deliveries/${api.freight.deliveries[0]!.deliveryId}`)
    await page.getByText(detail).waitFor()
    expect(await page.evaluate(() => sessionStorage.length)).toBe(1)
  })

  it("asks for the key again as soon as the server refuses it", async () => {
    const { api, page } = await openView("#/t/acme/subscriptions", { controlledClock: true })
    await advanceUntil(page, page.getByRole("table"))
    api.override = () => ({ status: 401, json: { status: 401, title: "Unauthorized" } })
    await advanceUntil(page, page.getByText("no longer accepts this key"))
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
  })

  it("keeps the key when a proxy refuses a request, and says where the response is from", async () => {
    const { api, page } = await openView("#/t/acme/subscriptions", { controlledClock: true })
    await advanceUntil(page, page.getByRole("table"))
    api.override = () => ({ status: 403, json: {} })
    await advanceUntil(page, page.getByText("The server answered 403, without a message from Waybill. Check for a proxy in between."))
    expect(await page.evaluate(() => sessionStorage.length)).toBe(1)
    api.override = undefined
    await advanceUntil(page, page.getByText("live", { exact: true }))
  })

  it("shows subscriptions with the most serious problems first, with reasons", async () => {
    const { page } = await openView("#/t/acme/subscriptions")
    const rows = page.getByRole("row").filter({ has: page.getByRole("rowheader") })
    await rows.first().waitFor()
    expect(await rows.count()).toBe(5)
    const texts = await rows.allInnerTexts()
    expect(texts.map((text) => /shipper-\d/.exec(text)![0])).toEqual(["shipper-4", "shipper-3", "shipper-2", "shipper-1", "shipper-5"])
    expect(texts[0]).toMatch(/breaker open[^]*2 dead letters/)
    expect(texts[1]).toMatch(/paused[^]*A delivery used up its attempts\.[^]*1,000\+/)
    expect(await page.getByRole("table").getByText("3 in trouble").count()).toBe(1)

    await page.getByLabel("State").selectOption("paused")
    await eventually(async () => await rows.count() === 2 || undefined)
    expect(new URL(page.url()).hash).toBe("#/t/acme/subscriptions?state=paused")
    await page.goBack()
    await eventually(async () => await rows.count() === 5 || undefined)
  })

  it("pages through long lists, forwards and back", async () => {
    const api = await startFakeApi()
    api.freight.subscriptions.push(...Array.from({ length: 250 }, (_, n) => subscriptionSample(100 + n)))
    const { page } = await openView("#/t/acme/deliveries", { api })
    const times = page.getByRole("rowheader")
    await times.first().waitFor()
    expect(await times.count()).toBe(50)
    expect(await times.first().innerText()).toContain("2026-11-20 08:09:00 UTC")
    await page.getByRole("link", { name: "Next page" }).click()
    await eventually(async () => await times.count() === 16 || undefined)
    await page.locator("h1:focus").waitFor()
    await eventually(async () => await page.evaluate(() => scrollY) === 0 || undefined)
    await page.goBack()
    await eventually(async () => await times.count() === 50 || undefined)
    await eventually(async () => await page.evaluate(() => scrollY) > 300 || undefined)

    await page.getByRole("link", { name: "Subscriptions" }).click()
    await page.getByText("On this page: 100 of 255 subscriptions").waitFor()
    // the failures of the last day
    await eventually(async () => await page.locator("svg.strip").count() === 100 || undefined)
    await page.getByRole("link", { name: "Next page" }).click()
    await eventually(async () => await page.getByRole("row", { name: "shipper-294.example" }).count() === 1 || undefined)
    await page.getByRole("link", { name: "Next page" }).click()
    await page.getByText("On this page: 55 of 255 subscriptions").waitFor()
    await page.getByRole("link", { name: "First page" }).click()
    await page.getByText("On this page: 100 of 255 subscriptions").waitFor()
  })

  it("shows the subscriptions in trouble, on whichever page of all they are, from their number in the list of tenants", async () => {
    const api = await startFakeApi()
    api.freight.subscriptions.push(...Array.from({ length: 250 }, (_, n) => subscriptionSample(100 + n)), subscriptionSample(400, { breaker: { state: "open", failures: 9, until: instantOf(99) } }))
    const { page, violations } = await openView("#/", { api })
    await page.getByRole("row", { name: "beta" }).getByRole("link", { name: "1 subscription in trouble" }).click()
    await page.getByText("4 subscriptions, 4 in trouble").waitFor()
    expect((await page.getByRole("rowheader").allInnerTexts()).map((text) => /shipper-\d+/.exec(text)![0])).toContain("shipper-400")
    expect(await page.getByLabel("State").inputValue()).toBe("in-trouble")
    expect(await page.getByRole("button", { name: "Purge all that match" }).count()).toBe(0)
    expect(new URL(page.url()).hash).toBe("#/t/beta/subscriptions?state=in-trouble")
    expect(violations.seen).toEqual([])
  })

  it("says in the list of tenants which are suspended", async () => {
    const api = await startFakeApi()
    api.freight.tenants.push({ tenantId: "gone", name: "Gone Freight", hosts: [], state: "suspended" })
    const { page } = await openView("#/", { api })
    await page.getByRole("row", { name: "gone" }).getByText("suspended", { exact: true }).waitFor()
    expect(await page.getByText("suspended").count()).toBe(1)
  })

  it("names the subscription of every row, however many the tenant has, and asks for each once", async () => {
    const { freight } = await startFakeApi()
    for (let n = 6; n < 600; n++) freight.subscriptions.push(subscriptionSample(n))
    freight.deliveries.push(deliverySample(100, { subscriptionId: idOf(599) }), deliverySample(101, { subscriptionId: idOf(700) }))
    const { api, page } = await openView("#/t/acme/deliveries", { api: await startFakeApi(freight), controlledClock: true })
    await page.getByRole("link", { name: "shipper-599.example", exact: true }).waitFor()
    const ask = () => api.requests.filter(({ path, query }) => path === "/acme/subscriptions" && query.has("subscriptionId")).map(({ query }) => query.getAll("subscriptionId"))
    // time goes on, so there may be further pages already
    expect(ask()[0]).toEqual([idOf(1), idOf(599), idOf(700)])
    freight.deliveries.push(deliverySample(102, { subscriptionId: idOf(598) }))
    await advanceUntil(page, page.getByRole("link", { name: "shipper-598.example", exact: true }))
    // an unknown one is asked for with each page
    expect(ask().flat().filter((id) => id !== idOf(700))).toEqual([idOf(1), idOf(599), idOf(598)])
    expect(await page.getByRole("link", { name: `…${idOf(700).slice(-6)}`, exact: true }).count()).toBe(1)
  })

  it("filters deliveries by state and time, also by keyboard", async () => {
    const { page } = await openView("#/t/acme/deliveries")
    const rows = page.getByRole("rowheader")
    await rows.first().waitFor()
    await page.getByLabel("State").selectOption("waiting")
    await eventually(async () => await rows.count() === 1 || undefined)
    await page.getByLabel("State").focus()
    await page.keyboard.press("End")
    await page.getByLabel("State").selectOption("dead")
    await page.getByRole("heading", { name: "Dead letters" }).waitFor()
    await eventually(async () => await rows.count() === 3 || undefined)
    expect(await page.evaluate(() => document.activeElement!.tagName)).toBe("SELECT")
    await page.getByLabel("Created since").fill("2026-11-20T07:02:00")
    await page.keyboard.press("Enter")
    await eventually(async () => await rows.count() === 2 || undefined)
    expect(new URL(page.url()).hash).toBe("#/t/acme/deliveries?state=dead&since=2026-11-20T07%3A02%3A00.000Z")
    expect(await page.evaluate(() => document.activeElement!.tagName)).toBe("INPUT")
    await page.reload()
    await rows.first().waitFor()
    expect(await page.getByLabel("Created since").inputValue()).toBe("2026-11-20T07:02")

    // a date without a time
    const before = page.getByLabel("Created before")
    await before.focus()
    await page.keyboard.type("11202026")
    await page.keyboard.press("Enter")
    await page.getByText("Enter a date and a time, or empty the field.").waitFor()
    expect([await before.getAttribute("aria-invalid"), new URL(page.url()).hash]).toEqual(["true", "#/t/acme/deliveries?state=dead&since=2026-11-20T07%3A02%3A00.000Z"])
    await before.fill("2026-11-20T07:03:00")
    await page.keyboard.press("Enter")
    await page.getByText("Enter a date and a time, or empty the field.").waitFor({ state: "detached" })
    expect(new URL(page.url()).hash).toContain("until=2026-11-20T07%3A03%3A00.000Z")
  })

  it("retries one or several dead letters after a confirmation, and shows the result", async () => {
    const { api, violations, page } = await openView("#/t/acme/deliveries?state=dead")
    await page.getByRole("heading", { name: "Dead letters" }).waitFor()
    const rows = page.getByRole("rowheader")
    await eventually(async () => await rows.count() === 3 || undefined)
    await page.getByRole("button", { name: `Retry delivery ending in ${idOf(0x1002).slice(-6)}` }).click()
    const dialog = page.getByRole("dialog", { name: `Send delivery …${idOf(0x1002).slice(-6)} again?` })
    await dialog.waitFor()
    await page.keyboard.press("Escape")
    await dialog.waitFor({ state: "detached" })
    expect(api.requests.filter(({ method }) => method === "POST")).toEqual([])
    await page.locator(":focus", { hasText: "Retry delivery ending in" }).waitFor()

    await page.keyboard.press("Enter")
    await dialog.getByRole("button", { name: "Send again" }).click()
    await page.getByText(`Delivery …${idOf(0x1002).slice(-6)} is queued again.`).first().waitFor()
    await eventually(async () => await rows.count() === 2 || undefined)

    await page.getByRole("button", { name: "Select all on this page" }).click()
    await page.getByRole("button", { name: "Retry 2 selected" }).click()
    api.override = ({ method, path }) =>
      method === "POST" && path.includes(idOf(0x1001)) ? { status: 409, json: { status: 409, title: "Conflict", detail: "It was cancelled meanwhile." } } : undefined
    await page.getByRole("dialog").getByRole("button", { name: "Send 2 deliveries again" }).click()
    await page.getByText("1 of 2 deliveries are queued again. The others: It was cancelled meanwhile.").first().waitFor()
    expect(api.requests.filter(({ method }) => method === "POST").map(({ path }) => path)).toEqual(
      [0x1002, 0x1003, 0x1001].map((n) => `/acme/deliveries/${idOf(n)}/retry`)
    )
    expect(violations.seen).toEqual([])
  })

  it("says that an action may have been done when its answer is lost", async () => {
    const { api, page } = await openView(`#/t/acme/deliveries/${idOf(0x1001)}`)
    await page.getByRole("button", { name: "Retry" }).click()
    api.override = ({ method }) => method === "POST" ? "lost" : undefined
    await page.getByRole("button", { name: "Send again" }).click()
    await page.getByRole("alert").filter({ hasText: /^The server cannot be reached\. .+ The action may have been done all the same: look at the data before you repeat it\.$/ }).waitFor()
    api.override = ({ method }) => method === "POST" ? { status: 409, json: { status: 409, title: "Conflict", detail: "It was dismissed." } } : undefined
    await page.getByRole("button", { name: "Send again" }).click()
    await page.getByRole("alert").filter({ hasText: /^It was dismissed\.$/ }).waitFor()
  })

  it("stops with several deliveries when the server does not answer, and says for how many that is", async () => {
    const { api, page } = await openView("#/t/acme/deliveries?state=dead")
    const rows = page.getByRole("rowheader")
    await eventually(async () => await rows.count() === 3 || undefined)
    await page.getByRole("button", { name: "Select all on this page" }).click()
    await page.getByRole("button", { name: "Dismiss 3 selected" }).click()
    // a browser sends a request again whose connection was open before
    const dismissed = () => new Set(api.requests.flatMap(({ method, path }) => method === "POST" ? path : [])).size
    api.override = ({ method }) => method === "POST" ? "lost" : undefined
    const confirm = page.getByRole("dialog").getByRole("button", { name: "Dismiss 3 dead letters" })
    await confirm.click()
    await page.getByRole("alert").filter({ hasText: /^The server cannot be reached\. .+ The action may have been done all the same/ }).waitFor()
    expect(dismissed()).toBe(1)
    api.override = ({ method }) => method === "POST" && dismissed() > 1 ? "lost" : undefined
    await confirm.click()
    await page.getByText(/^1 of 3 dead letters dismissed\. The others: The server cannot be reached\./).first().waitFor()
    expect(dismissed()).toBe(2)
  })

  it("reads the body of a delivery once, because each read is in the audit log, and shows what becomes of the delivery", async () => {
    const { api, page } = await openView(`#/t/acme/deliveries/${idOf(0x1001)}`)
    await page.getByText("dead letter", { exact: true }).waitFor()
    const reads = () => api.requests.filter(({ path }) => path === `/acme/deliveries/${idOf(0x1001)}`).length
    Object.assign(api.freight.deliveries.find(({ deliveryId }) => deliveryId === idOf(0x1001))!, { state: "delivered" })
    await page.getByText("delivered", { exact: true }).waitFor()
    expect(reads()).toBe(1)
    api.freight.deliveries = api.freight.deliveries.filter(({ deliveryId }) => deliveryId !== idOf(0x1001))
    await page.getByText("Delivery not found.").waitFor()
    expect(reads()).toBeGreaterThan(1)
  })

  it("shows which tenant the server does not know, and what to do", async () => {
    const api = await startFakeApi()
    const detail = "No tenant acmee. Check its id, or create it with PUT /operator/v1/tenants/acmee or tenants.put."
    api.override = ({ path }) => path.startsWith("/acmee") ? { status: 404, json: { status: 404, title: "Not found", code: "tenant_not_found", detail } } : undefined
    const { page } = await openView("#/t/acmee/subscriptions", { api })
    for (const view of ["Subscriptions", "Deliveries", "Dead letters", "Pickups"]) {
      await page.getByRole("link", { name: view, exact: true }).click()
      await page.getByRole("heading", { name: view, level: 1 }).waitFor()
      await page.getByText(detail).waitFor()
    }
  })

  it("dismisses selected dead letters of a client after a confirmation that names their number", async () => {
    const { api, violations, page } = await openView("#/t/acme/deliveries?state=dead")
    const rows = page.getByRole("rowheader")
    await eventually(async () => await rows.count() === 3 || undefined)
    await page.getByRole("link", { name: "shipper-4.example" }).first().waitFor()
    await page.getByLabel("Client").fill("nobody")
    await page.keyboard.press("Enter")
    await page.getByText("No dead letter matches.").waitFor()
    await page.getByLabel("Client").fill("")
    await page.keyboard.press("Enter")
    await eventually(async () => await rows.count() === 3 || undefined)
    await page.getByRole("button", { name: "Select all on this page" }).click()
    await page.getByRole("button", { name: "Dismiss 3 selected" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Dismiss 3 dead letters" }).click()
    await page.getByText("3 dead letters dismissed.").first().waitFor()
    await page.getByText("No dead letter.").waitFor()
    expect(api.requests.filter(({ method }) => method === "POST").map(({ path }) => path.split("/").at(-1))).toEqual(["dismiss", "dismiss", "dismiss"])
    expect(violations.seen).toEqual([])
  })

  it("retries all dead letters that match a filter, in steps, and says how many", async () => {
    const api = await startFakeApi()
    for (let n = 0; n < 57; n++) api.freight.deliveries.push(deadLetter(0x2000 + n))
    const { violations, page } = await openView("#/t/acme/deliveries?state=dead", { api })
    await page.getByText("The newest 50 of 60 dead letters").waitFor()
    expect(await page.getByRole("button", { name: "Retry all that match" }).count()).toBe(0)
    const { outcome } = api.freight.deliveries.find(({ state }) => state === "dead")!.attempts.at(-1)!
    await page.getByLabel("Failed with").selectOption(outcome)
    await page.getByRole("button", { name: "Retry all that match" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByRole("heading", { name: "Send 60 dead letters again?" }).waitFor()
    // the second step fails once
    let steps = 0
    api.override = ({ method }) => method === "POST" && ++steps === 2 ? { status: 503, json: { status: 503, title: "Unavailable", detail: "The database is away." } } : undefined
    await dialog.getByRole("button", { name: "Send all again" }).click()
    await page.getByText("20 dead letters queued again. Then it stopped: ").first().waitFor()
    await page.getByText("40 dead letters").first().waitFor()
    const [asked] = api.requests.filter(({ method }) => method === "POST")
    expect(asked).toMatchObject({ path: "/acme/dead-letters/retry", body: { error: outcome } })
    expect(violations.seen).toEqual([])
  })

  it("purges all subscriptions that match a filter, in steps, and offers it only with a filter", async () => {
    const { api, violations, page } = await openView("#/t/acme/subscriptions")
    await page.getByRole("rowheader").first().waitFor()
    expect(await page.getByRole("button", { name: "Purge all that match" }).count()).toBe(0)
    const matching = api.freight.subscriptions.filter(({ state }) => state === "active").length
    expect(matching).toBeGreaterThan(1)
    await page.getByLabel("State").selectOption("active")
    await page.getByRole("button", { name: "Purge all that match" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByRole("heading", { name: `Purge ${matching} subscriptions?` }).waitFor()
    await dialog.getByText("Everything that matches: state active.").waitFor()
    await dialog.getByRole("button", { name: "Purge all" }).click()
    await page.getByText(`${7 * matching} entries dropped.`).first().waitFor()
    const steps = api.requests.filter(({ method }) => method === "POST")
    expect(steps.length).toBe(matching)
    expect(steps[0]).toMatchObject({ path: "/acme/purge", body: { state: "active" } })
    expect(violations.seen).toEqual([])
  })

  it("changes the settings of a subscription, and sends only what was changed", async () => {
    const api = await startFakeApi()
    const { area, endpointUrl, subscriptionId } = api.freight.subscriptions.find((each) => each.area === "transit-events")!
    const { violations, page } = await openView(`#/t/acme/subscriptions/${subscriptionId}`, { api })
    await page.getByRole("button", { name: "Change …" }).click()
    const dialog = page.getByRole("dialog")
    expect([area, await dialog.getByLabel("Endpoint").inputValue()]).toEqual(["transit-events", endpointUrl])
    await dialog.getByRole("button", { name: "Change" }).click()
    await dialog.getByText("Nothing is changed yet.").waitFor()
    await dialog.getByLabel("Most deliveries in a minute").fill("60")
    await dialog.getByLabel("Only these shipments").fill("S-1\nS-2")
    await dialog.getByRole("button", { name: "Change" }).click()
    await page.getByText("The subscription is changed.").first().waitFor()
    expect(api.requests.filter(({ method }) => method === "PATCH")).toEqual([
      expect.objectContaining({ path: `/acme/subscriptions/${subscriptionId}`, body: { delivery: { rateLimitPerMinute: 60 }, filters: { shipmentIds: ["S-1", "S-2"] } } })
    ])
    expect(violations.seen).toEqual([])
  })

  it("filters subscriptions by endpoint and by the outcome of the last attempt", async () => {
    const { api, page } = await openView("#/t/acme/subscriptions")
    const rows = page.getByRole("rowheader")
    await rows.first().waitFor()
    const { endpointUrl } = api.freight.subscriptions[0]!
    const there = api.freight.subscriptions.filter((each) => new URL(each.endpointUrl).host === new URL(endpointUrl).host).length
    await page.getByLabel("Endpoint").fill(new URL(endpointUrl).host)
    await page.keyboard.press("Enter")
    await eventually(async () => await rows.count() === there || undefined)
    await page.getByLabel("Last attempt").selectOption("gone")
    await page.getByText("No subscription matches.").waitFor()
    expect(new URL(page.url()).hash).toBe(`#/t/acme/subscriptions?endpoint=${encodeURIComponent(new URL(endpointUrl).host)}&error=gone`)
  })

  it("lists the tenant with the most waiting entries first", async () => {
    const { page } = await openView("#/")
    await eventually(async () => (await page.getByRole("rowheader").allInnerTexts()).join() === "beta,acme" || undefined)
  })

  it("lists the tenant with the most waiting entries first among hundreds", async () => {
    const api = await startFakeApi()
    // the fake has more waiting entries for each tenant than for the one before it
    api.freight.tenants = Array.from({ length: 400 }, (_, n) => ({ tenantId: `t-${String(n).padStart(3, "0")}`, name: "Freight", hosts: [], state: "active" as const }))
    const { page } = await openView("#/", { api })
    await eventually(async () => await page.getByRole("rowheader").first().innerText() === "t-399" || undefined)
    expect(await page.getByRole("rowheader").count()).toBe(400)
    expect(await page.getByRole("navigation", { name: "Pages" }).count()).toBe(0)
  })

  it("draws charts of the server's time at once where the browser's clock is wrong", async () => {
    const { api, page } = await openView("#/t/acme/subscriptions")
    await page.clock.install({ time: Date.now() + 3 * 86_400_000 })
    const asked = () => api.requests.filter(({ path, query }) => path.endsWith("/statistics") && !query.has("subscriptionId")).map(({ query }) => Date.parse(query.get("to")!) > Date.now() + 86_400_000)
    const before = asked().length
    await page.reload()
    await eventually(async () => asked().length > before + 1 || undefined)
    expect(asked().slice(before)).toEqual([true, false])
  })

  it("recovers, replays and resumes a subscription", async () => {
    const { api, page } = await openView(`#/t/acme/subscriptions/${idOf(4)}`)
    const dialog = page.getByRole("dialog")
    await page.getByRole("button", { name: "Recover dead letters" }).click()
    await dialog.getByLabel("Since").fill("2026-11-19T06:30:00")
    await dialog.getByRole("button", { name: "Recover" }).click()
    await page.getByText("3 dead letters are queued again.").first().waitFor()

    await page.getByRole("button", { name: "Replay" }).click()
    await dialog.getByLabel("From").fill("2026-11-18T00:00:00")
    await dialog.getByLabel("Only these shipments").fill("S-1\n\n  S-2 ")
    await dialog.getByRole("button", { name: "Replay" }).click()
    await page.getByText("12 events are queued.").first().waitFor()

    await page.goto(`${api.url}/dashboard/#/t/acme/subscriptions/${idOf(3)}`)
    await page.getByRole("button", { name: "Resume" }).click()
    api.override = ({ method }) => method === "POST" ? { status: 503, json: { status: 503, title: "Unavailable", detail: "The storage does not answer." } } : undefined
    await dialog.getByRole("button", { name: "Resume" }).click()
    await dialog.getByText("The storage does not answer.").waitFor()
    api.override = undefined
    await dialog.getByRole("button", { name: "Resume" }).click()
    await page.getByText("The subscription is active.").first().waitFor()
    expect(api.requests.filter(({ method }) => method === "POST").map(({ body, path }) => [path, body])).toEqual([
      [`/acme/subscriptions/${idOf(4)}/recover`, { since: "2026-11-19T06:30:00.000Z" }],
      [`/acme/subscriptions/${idOf(4)}/replay`, { from: "2026-11-18T00:00:00.000Z", shipmentIds: ["S-1", "S-2"] }],
      [`/acme/subscriptions/${idOf(3)}/resume`, undefined],
      [`/acme/subscriptions/${idOf(3)}/resume`, undefined]
    ])
  })

  it("shows the exact bytes of a delivery, and downloads them unchanged", async () => {
    const api = await startFakeApi()
    const body = `{"a":1.50,"a": 2, "text":"caf\u00e9 \u202e\u200b"}`
    api.freight.deliveries.push(deadLetter(200, { body }))
    const { violations, page } = await openView(`#/t/acme/deliveries/${idOf(0x1000 + 200)}`, { api })
    const block = page.getByRole("region", { name: "Body as sent" })
    await block.waitFor()
    expect(await block.innerText()).toBe(`{"a":1.50,"a": 2, "text":"caf\u00e9 U+202EU+200B"}`)
    const digest = Buffer.from(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(body))).toString("hex")
    await page.getByText(digest).waitFor()
    await page.getByText(`${Buffer.byteLength(body)} bytes`).waitFor()
    // earlier attempts may have gone to another one
    expect(await page.getByRole("term").allInnerTexts()).toContain("Endpoint now")

    await page.getByRole("button", { name: "Indented" }).click()
    expect(await page.getByRole("region", { name: "Body, indented" }).innerText()).toContain(`"a": 1.50,\n  "a": 2,`)
    await page.getByRole("button", { name: "Hex" }).click()
    expect(await page.getByRole("region", { name: "Body in hexadecimal digits" }).innerText()).toContain("00000000  7b 22 61 22 3a 31 2e 35 30 2c 22 61 22 3a 20 32  {\"a\":1.50,\"a\": 2")

    const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download" }).click()])
    expect(file.suggestedFilename()).toBe(`delivery-${idOf(0x1000 + 200)}.json`)
    const chunks: Array<Buffer> = []
    for await (const chunk of await file.createReadStream()) chunks.push(chunk as Buffer)
    expect(Buffer.concat(chunks).equals(Buffer.from(body))).toBe(true)

    const attempts = page.getByRole("listitem").filter({ hasText: "The receiver answered 503." })
    expect(await attempts.count()).toBe(3)
    expect(await attempts.first().innerText()).toMatch(/server error \(5xx\)[^]*HTTP 503[^]*took 2\.9 s[^]*upstream is down/)
    expect(violations.seen).toEqual([])
  })

  it("says why a delivery was cancelled", async () => {
    const api = await startFakeApi()
    api.freight.deliveries.push(deliverySample(200, { state: "cancelled", reason: "An operator purged its subscription." }))
    const { page } = await openView(`#/t/acme/deliveries/${idOf(0x1000 + 200)}`, { api })
    await page.getByRole("definition").getByText("An operator purged its subscription.").waitFor()
  })

  it("shows a body that is not JSON as it was sent, also where it should be indented", async () => {
    const api = await startFakeApi()
    api.freight.deliveries.push(deadLetter(201, { body: "not JSON" }))
    const { page } = await openView(`#/t/acme/deliveries/${idOf(0x1000 + 201)}`, { api })
    await page.getByRole("button", { name: "Indented" }).click()
    await page.getByText("The body is not JSON").waitFor()
    expect(await page.getByRole("region", { name: "Body as sent" }).innerText()).toBe("not JSON")
  })

  it("shows a body of megabytes in parts, so that it does not hold the tab", async () => {
    const api = await startFakeApi()
    // a character of two halves where a part ends
    const body = "x".repeat(49_999) + "\u{1f69a}" + "y".repeat(5_000_000)
    api.freight.deliveries.push(deadLetter(202, { body }))
    const { page } = await openView(`#/t/acme/deliveries/${idOf(0x1000 + 202)}`, { api })
    const block = page.getByRole("region", { name: "Body as sent" })
    expect(await block.innerText()).toBe("x".repeat(49_999) + "\u{1f69a}")
    await page.getByText("Characters 1 to 50,000 of 5,050,001").waitFor()
    await page.getByRole("button", { name: "Next part" }).click()
    await page.getByText("Characters 50,001 to 100,000 of 5,050,001").waitFor()
    expect(await block.innerText()).toBe("y".repeat(49_999))
    await page.getByRole("button", { name: "Previous part" }).click()
    expect(await page.getByRole("button", { name: "Previous part" }).isDisabled()).toBe(true)
    await page.getByRole("button", { name: "Hex" }).click()
    await page.getByRole("button", { name: "Next part" }).click()
    await page.getByText("Bytes 32,769 to 65,536 of 5,050,003").waitFor()
    expect(await page.getByRole("region", { name: "Body in hexadecimal digits" }).innerText()).toMatch(/^00008000 {2}78 78 /)
  })

  it("says what comes first where a tenant has nothing yet", async () => {
    const api = await startFakeApi()
    Object.assign(api.freight, { subscriptions: [], deliveries: [], pickups: [] })
    const { page } = await openView("#/t/acme/subscriptions", { api })
    await page.getByText("No subscriptions yet. Clients create them with their API keys; waybill keys create makes a key.").waitFor()
    await page.getByRole("link", { name: "Deliveries" }).click()
    await page.getByText("No deliveries yet. They appear when something is published that a subscription matches.").waitFor()
    await page.getByLabel("State").selectOption("waiting")
    await page.getByText("No delivery matches.").waitFor()
    await page.getByRole("link", { name: "Pickups" }).click()
    await page.getByLabel("Show").selectOption("all")
    await page.getByText("No pickups yet. They appear when a customer orders one.").waitFor()
  })

  it("explains why a subscription did not receive an event, and what is not known", async () => {
    const { api, page } = await openView(`#/t/acme/subscriptions/${idOf(2)}`)
    await page.getByRole("link", { name: "Explain a missing delivery" }).click()
    expect(await page.getByLabel("Subscription", { exact: true }).inputValue()).toBe(idOf(2))
    await page.getByLabel("Find by").selectOption("eventId")
    await page.getByLabel("Number or id").fill(" E-1 ")
    await page.keyboard.press("Enter")
    await page.locator("main").getByText("Waiting for the subscription to be resumed").waitFor()
    const { query } = api.requests.find(({ path }) => path === "/acme/explain")!
    expect(Object.fromEntries(query)).toEqual({ subscriptionId: idOf(2), eventId: "E-1" })
    expect(await page.getByRole("table", { name: "Rules that decided" }).innerText()).toContain("paused by the service: The receiver answered 410 Gone.")
    await page.getByRole("table", { name: "1 delivery" }).getByRole("link").click()
    await page.getByRole("heading", { name: "Delivery" }).first().waitFor()
    await page.goBack()
    await page.getByLabel("Number or id").fill("nothing")
    await page.getByRole("button", { name: "Explain" }).click()
    await page.getByText("Not found. Check the subscription and the number").waitFor()
  })

  it("finds a shipment and shows its journey across the areas, oldest first", async () => {
    const { page } = await openView("#/t/acme/shipments")
    await page.getByLabel("PRO, BOL or PO number").fill(" 0418367745 ")
    await page.keyboard.press("Enter")
    await page.getByRole("link", { name: "S-1" }).click()
    const entries = page.locator("ol.timeline > li")
    await entries.first().waitFor()
    const texts = await entries.allInnerTexts()
    expect(texts.map((text) => /Pickups|Transit events|Shipment status|Freight charges|Invoices/.exec(text)?.[0])).toEqual([
      "Pickups", "Transit events", "Shipment status", "Transit events", "Transit events", "Freight charges", "Invoices"
    ])
    expect(texts[1]).toMatch(/2026-11-20 07:05:00 UTC[^]*Picked up in Chicago, IL[^]*E-1/)
    const stops = page.getByRole("table", { name: "3 stops" })
    expect(await stops.getByRole("rowheader").allInnerTexts()).toEqual(["Chicago, IL", "Omaha, NE\nno coordinates", "Denver, CO"])
    await page.getByText("1 stop without coordinates is drawn on the way between others").waitFor()
    expect(await page.locator(".map circle").count()).toBe(3)
    await entries.nth(5).locator("summary").click()
    await page.getByText("\"total\": 412.5").waitFor()
    await page.goBack()
    await page.goBack()
    await page.getByLabel("PRO, BOL or PO number").fill("nothing")
    await page.getByRole("button", { name: "Find" }).click()
    await page.getByText("Nothing found for nothing.").waitFor()
  })

  it("shows no answer to another question while the server answers", async () => {
    const api = await startFakeApi()
    let answer = () => {}
    const answered = new Promise<undefined>((resolve) => answer = () => resolve(undefined))
    api.override = ({ query }) => query.get("reference") === "nothing" ? answered : undefined
    const { page } = await openView("#/t/acme/shipments?reference=0418367745", { api })
    await page.getByRole("link", { name: "S-1" }).waitFor()
    await page.getByLabel("PRO, BOL or PO number").fill("nothing")
    await page.keyboard.press("Enter")
    await page.getByText("Loading …").waitFor()
    expect(await page.getByRole("link", { name: "S-1" }).count()).toBe(0)
    answer()
    await page.getByText("Nothing found for nothing.").waitFor()
    await page.goBack()
    await page.getByRole("link", { name: "S-1" }).waitFor()
    expect(await page.getByLabel("PRO, BOL or PO number").inputValue()).toBe("0418367745")
  })

  it("shows since when the server is unreachable, keeps its data, and recovers by itself", async () => {
    const { api, violations, page } = await openView("#/t/acme/subscriptions", { controlledClock: true })
    await advanceUntil(page, page.getByRole("table"))
    await page.getByText("live", { exact: true }).waitFor()
    api.override = () => "lost"
    await advanceUntil(page, page.getByText(/not updated since \d\d:\d\d:\d\d UTC/))
    await page.getByText("The server cannot be reached.").waitFor()
    expect(await page.getByRole("rowheader").count()).toBe(5)
    api.override = undefined
    await advanceUntil(page, page.getByText("live", { exact: true }))
    await page.getByText("The server cannot be reached.").waitFor({ state: "detached" })
    expect(violations.seen).toEqual([])
  })

  it("has one request in flight at a time, and none while it is paused", async () => {
    const api = await startFakeApi()
    let underWay = 0
    let most = 0
    api.override = async () => {
      most = Math.max(most, ++underWay)
      await new Promise((resolve) => setTimeout(resolve))
      underWay -= 1
      return undefined
    }
    const { page } = await openView(`#/t/acme/subscriptions/${idOf(4)}`, { api, controlledClock: true })
    await advanceUntil(page, () => api.requests.length >= 7)
    expect(most).toBe(1)
    await page.getByRole("button", { name: "Pause updates" }).click()
    await page.getByText("paused", { exact: true }).first().waitFor()
    const before = api.requests.length
    await page.clock.runFor(600_000)
    expect(api.requests.length - before).toBeLessThanOrEqual(1)
    api.freight.subscriptions.push(subscriptionSample(6, { state: "paused" }))
    await page.getByRole("link", { name: "Subscriptions" }).click()
    await advanceUntil(page, page.getByText("6 subscriptions, 4 in trouble"))
    api.freight.subscriptions.pop()
    await page.getByRole("button", { name: "Refresh" }).click()
    await advanceUntil(page, page.getByText("5 subscriptions, 3 in trouble"))
    expect(most).toBe(1)
  })

  it("keeps focus, scroll position and order when new data arrives", async () => {
    const { api, page } = await openView("#/t/acme/deliveries", { controlledClock: true, viewport: { width: 1200, height: 500 } })
    const links = page.getByRole("rowheader").getByRole("link")
    await advanceUntil(page, links)
    await links.nth(20).focus()
    const at = () => page.evaluate(() => ({ text: document.activeElement!.textContent!.slice(0, 30), y: scrollY, top: document.activeElement!.getBoundingClientRect().top }))
    const before = await at()
    api.freight.deliveries.push(...[300, 301].map((n) => deliverySample(n)))
    Object.assign(api.freight.deliveries.find(({ deliveryId }) => deliveryId === idOf(0x1000 + 69))!, { state: "cancelled" })
    await advanceUntil(page, page.getByText("2 new. They appear when you leave the list."))
    expect(await at()).toEqual(before)
    expect(await page.getByRole("row").nth(1).innerText()).toContain("cancelled")
    await page.getByRole("button", { name: "Pause updates" }).focus()
    await page.mouse.move(600, 5)
    await advanceUntil(page, links.first().filter({ hasText: instantOf(301).slice(11, 19) }))
  })

  it("keeps an open dialog and its input when new data arrives", async () => {
    const { api, page } = await openView(`#/t/acme/subscriptions/${idOf(4)}`, { controlledClock: true })
    await advanceUntil(page, page.getByRole("button", { name: "Replay" }))
    await page.getByRole("button", { name: "Replay" }).click()
    const dialog = page.getByRole("dialog")
    await dialog.getByLabel("Only these shipments").fill("S-9")
    api.freight.subscriptions.splice(3, 1)
    await advanceUntil(page, page.getByText("Subscription not found."))
    expect(await dialog.getByLabel("Only these shipments").inputValue()).toBe("S-9")
    expect(await page.evaluate(() => document.activeElement!.tagName)).toBe("TEXTAREA")
  })

  it("works behind a proxy with a path prefix", async () => {
    const api = await startFakeApi(undefined, "/freight/waybill")
    const visited = await openView("#/t/acme/subscriptions", { api })
    await visited.page.getByRole("table").waitFor()
    await visited.page.goto(`${api.url}/freight/waybill/dashboard#/t/acme/shipments`)
    await visited.page.getByRole("heading", { name: "Shipments" }).waitFor()
    expect(new URL(visited.page.url()).pathname).toBe("/freight/waybill/dashboard/")
    expect(visited.violations.seen).toEqual([])
  })
})
