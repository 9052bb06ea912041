import { type DeliveryMetadata, type OperatorClient, TransitEventsClient } from "@waybill/client"
import { PortalClient } from "@waybill/client/portal"
import axe from "axe-core"
import type { Page } from "playwright-core"
import { describe, expect, inject, it } from "vitest"
import { closeBrowserAfterwards, noBrowser, visit } from "../dashboard/Chromium.ts"
import { mailServer } from "../mail/MailServer.ts"
import { eventually, leaked, listening, Program, receiver, sharedSettings, startProgram, urlOf } from "../program/Program.ts"
import { event, tenantOn } from "../program/Tenant.ts"

const pgUrl = inject("pgUrl")

closeBrowserAfterwards()

/** A client with a secret and a subscription of its own. By default a delivery is a dead letter after one attempt. */
const customerOf = async (url: string, operator: OperatorClient, name: string, endpointUrl: string, delivery: DeliveryMetadata = { maxAttempts: 1 }) => {
  const account = `A-${name}`
  const { key } = await operator.createApiKey("acme", { name, roles: ["customer"], accounts: [account] })
  await operator.putSecret("acme", `${name}-secret`, { client: name })
  const { id } = await new TransitEventsClient({ baseUrl: url, apiKey: key }).createSubscription({ endpointUrl, hmacSecretId: `${name}-secret`, delivery })
  return { account, id }
}

/** The program with two customers, and a link of the first. */
const opened = async (more: Readonly<Record<string, string>> = {}) => {
  const { env, operatorKey } = sharedSettings(pgUrl, more)
  const { program, url } = await startProgram({ env })
  const tenant = await tenantOn(url, operatorKey)
  const { operator } = tenant
  const endpoint = { status: 500 }
  const hook = await receiver((_, response) => void response.writeHead(endpoint.status).end())
  const shop = await customerOf(url, operator, "shop", `${hook.url}/shop`)
  const rival = await customerOf(url, operator, "rival", `${hook.url}/rival`)
  await tenant.intakeAt(url).publishTransitEvents([{ ...event("S-1", 1), parties: { accounts: [shop.account, rival.account] } }])
  await eventually(async () => (await operator.listDeliveries("acme", { state: "dead" })).data.length === 2 || undefined)
  const link = await operator.createPortalLink("acme", { client: "shop", theme: { name: "Acme Freight", accent: "#0b5fff", radius: 8 } })
  globalThis.waybillTestOutput?.secret(link.token)
  return { url, env, program, operator, endpoint, hook, shop, rival, link }
}

const faultsOf = async (page: Page) => {
  const { violations } = await page.evaluate(() => (globalThis as any).axe.run(document, { resultTypes: ["violations"], preload: false })) as axe.AxeResults
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  return [...violations.map(({ help, id, nodes }) => `${id}: ${help}: ${nodes.map(({ html }) => html).join(" … ")}`), ...(overflow > 0 ? [`overflow of ${overflow} pixels`] : [])]
}

describe.skipIf(noBrowser)("the portal's page, served by the program", { timeout: 120_000 }, () => {
  it("opens with a link, shows its client's data only, retries a dead letter, sends a test event and rotates a secret", async () => {
    const { endpoint, hook, link, operator, program, rival, shop, url } = await opened()
    expect(link.url).toBe(`${url}/portal/#token=${link.token}`)
    const { context, page, violations } = await visit(url, { viewport: { width: 320, height: 740 } })
    await context.addInitScript(axe.source)
    const requests: Array<string> = []
    page.on("request", (request) => requests.push(`${request.url()} ${request.headers()["referer"] ?? ""}`))
    await page.goto(link.url!)
    const row = page.getByRole("row").filter({ has: page.getByRole("rowheader") })
    await row.first().waitFor()
    // the token is gone from the address, and was in no request but in its Authorization header
    expect(page.url()).toBe(`${url}/portal/#/`)
    expect(leaked(requests.join(), [link.token])).toEqual([])
    expect(await page.evaluate(() => [sessionStorage.length, localStorage.length, document.cookie])).toEqual([1, 0, ""])
    expect(await row.count()).toBe(1)
    expect(await row.innerText()).toMatch(new RegExp(`…${shop.id.slice(-6)}[^]*dead letter`))
    expect(await page.getByText("1 subscription, 1 needs attention").count()).toBe(1)
    expect(await page.locator("body").innerText()).not.toContain("rival")
    expect(await page.title()).toBe("Subscriptions · Acme Freight")
    expect(await page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--portal-accent"))).toBe("#0b5fff")
    expect(await faultsOf(page)).toEqual([])

    // another client's ids are like unknown ones
    const { data: [foreign] } = await operator.listDeliveries("acme", { client: "rival" })
    for (const [hash, text] of [[`#/subscriptions/${rival.id}`, "Subscription not found."], [`#/deliveries/${foreign!.deliveryId}`, "Delivery not found."]] as const) {
      await page.goto(`${url}/portal/${hash}`)
      await page.getByText(text).waitFor()
    }

    await page.getByRole("link", { name: "Deliveries" }).click()
    await page.getByRole("rowheader").first().waitFor()
    expect(await page.getByRole("rowheader").count()).toBe(1)
    await page.getByRole("cell").getByRole("link", { name: new URL(hook.url).host }).waitFor()
    expect(await faultsOf(page)).toEqual([])
    endpoint.status = 200
    await page.getByRole("button", { name: /^Retry delivery/ }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Send again" }).click()
    await page.getByText(/^Delivery …[0-9a-f]{6} is queued again\.$/).first().waitFor()
    const sent = await eventually(async () => hook.receptions.filter(({ path }) => path === "/shop")[1])
    await page.getByRole("rowheader").getByRole("link").click()
    await page.getByRole("region", { name: "Body as sent" }).waitFor()
    await page.getByText("delivered", { exact: true }).waitFor()
    expect(await page.getByRole("region", { name: "Body as sent" }).innerText()).toBe(sent.body)
    expect(await faultsOf(page)).toEqual([])

    await page.getByRole("link", { name: "Subscriptions" }).click()
    await page.getByRole("rowheader").getByRole("link").click()
    await page.getByRole("button", { name: "Send test event" }).click()
    expect(await faultsOf(page)).toEqual([])
    await page.getByRole("dialog").getByRole("button", { name: "Send", exact: true }).click()
    await page.getByText("The endpoint accepted the test event. The receiver answered 200.").first().waitFor()
    expect(JSON.parse(hook.receptions.at(-1)!.body)).toMatchObject({ type: "webhook.test", subscriptionId: shop.id })
    for (const [action, state] of [["Pause", "paused by you"], ["Resume", "works"]] as const) {
      await page.getByRole("button", { name: `${action} …` }).click()
      await page.getByRole("dialog").getByRole("button", { name: action }).click()
      await page.getByText(state, { exact: true }).waitFor()
      expect(await page.locator("small", { hasText: /^since / }).count()).toBe(action === "Pause" ? 1 : 0)
    }

    await page.getByRole("link", { name: "Secrets" }).click()
    await page.getByRole("button", { name: "Rotate shop-secret" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click()
    const secret = await page.getByText(/^whsec_/).innerText()
    globalThis.waybillTestOutput?.secret(secret)
    expect(await faultsOf(page)).toEqual([])
    await page.getByRole("button", { name: "I have stored it" }).click()
    // until it is gone, the browser asks before it leaves the page
    await page.getByText(secret).waitFor({ state: "detached" })
    expect(await page.getByRole("main").innerText()).not.toContain("Copy")
    await page.reload()
    await page.getByRole("button", { name: "Rotate shop-secret" }).waitFor()
    expect(await page.locator("body").innerText()).not.toContain("whsec_")
    const rotated = (await operator.listSecrets("acme")).data.find(({ hmacSecretId }) => hmacSecretId === "shop-secret")
    expect(rotated!.rotatedAt).not.toBeNull()

    expect(violations.seen).toEqual([])
    expect(leaked(program.stdout + program.stderr, [link.token, secret])).toEqual([])
  })

  it("keeps an address for notices, and the program sends one by SMTP when it has paused a subscription", async () => {
    const { port, received } = await mailServer()
    const { endpoint, env, link, operator, shop, url } = await opened({ WAYBILL_SMTP_URL: `smtp://127.0.0.1:${port}`, WAYBILL_MAIL_FROM: "Acme Freight <webhooks@acme.example>" })
    const { context, page, violations } = await visit(url)
    await context.addInitScript(axe.source)
    await page.goto(link.url!)
    await page.getByRole("link", { name: "Notices" }).click()
    await page.getByLabel("E-mail address").fill("edi@shop.example")
    await page.keyboard.press("Enter")
    await page.getByText("Notices are sent to edi@shop.example.").first().waitFor()
    await page.getByLabel("Webhook address").fill("https://notices.shop.example/hook")
    await page.getByLabel("Name of the secret").fill("unknown")
    await page.keyboard.press("Enter")
    await page.getByRole("alert").filter({ hasText: "No secret unknown is registered for you." }).waitFor()
    const refused = page.locator("[aria-invalid=true]")
    expect(await refused.evaluateAll((fields) => fields.map((field) => [(field as HTMLInputElement).labels![0]!.firstChild!.textContent, document.getElementById(field.getAttribute("aria-describedby")!)!.textContent]))).toEqual([
      ["Name of the secret that signs it ", expect.stringContaining("No secret unknown")]
    ])
    await page.getByLabel("Name of the secret").fill((await operator.getSubscription("acme", shop.id)).hmacSecretId)
    await page.getByRole("group", { name: "Notices by e-mail" }).getByLabel("Attempts end soon").uncheck()
    await page.getByRole("group", { name: "Notices by webhook" }).getByLabel("The service has paused a subscription").uncheck()
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("Notices are sent to edi@shop.example and https://notices.shop.example/hook.").first().waitFor()
    expect(await faultsOf(page)).toEqual([])
    const portal = new PortalClient({ baseUrl: url, bearer: link.token })
    expect(await portal.getContact()).toMatchObject({ emailKinds: ["failing", "dead_letter", "paused"], webhookKinds: ["ending", "failing", "dead_letter"] })
    endpoint.status = 410
    const [dead] = (await operator.listDeliveries("acme", { subscriptionId: shop.id })).data
    await operator.retryDelivery("acme", dead!.deliveryId)
    await eventually(async () => (await operator.getSubscription("acme", shop.id)).pausedBy === "service" || undefined)
    // a process looks for trouble when it starts, and every five minutes
    await new Program({ env }).ready()
    const mail = await eventually(async () => received[0])
    expect(mail).toMatchObject({ from: "webhooks@acme.example", to: ["edi@shop.example"] })
    expect(mail.text).toMatch(/^Subject: Your webhook is paused\r$/m)
    expect(mail.text).toContain(`Subscription ${shop.id}`)
    expect(violations.seen).toEqual([])
  })

  it("lets the program warn by SMTP before the attempts of a failing endpoint end", async () => {
    const { port, received } = await mailServer()
    const { env, operatorKey } = sharedSettings(pgUrl, { WAYBILL_SMTP_URL: `smtp://127.0.0.1:${port}`, WAYBILL_MAIL_FROM: "Acme Freight <webhooks@acme.example>" })
    const url = await new Program({ env }).ready()
    const tenant = await tenantOn(url, operatorKey)
    const hook = await receiver((_, response) => void response.writeHead(503).end())
    const { account, id } = await customerOf(url, tenant.operator, "shop", `${hook.url}/shop`, { maxAttempts: 4, initialBackoffSeconds: 60, batchMaxSize: 1 })
    const { token } = await tenant.operator.createPortalLink("acme", { client: "shop" })
    globalThis.waybillTestOutput?.secret(token)
    await new PortalClient({ baseUrl: url, bearer: token }).putContact({ email: "edi@shop.example" })
    await tenant.intakeAt(url).publishTransitEvents([1, 2, 3, 4, 5, 6].map((n) => ({ ...event(`S-${n}`, 1), parties: { accounts: [account] } })))
    await eventually(async () => (await tenant.operator.getSubscription("acme", id)).breaker.state === "open" || undefined)
    // a process looks for trouble when it starts, and every five minutes
    await new Program({ env }).ready()
    const mail = await eventually(async () => received[0])
    expect(mail).toMatchObject({ from: "webhooks@acme.example", to: ["edi@shop.example"] })
    expect(mail.text).toMatch(/^Subject: Your webhook fails: attempts end soon\r$/m)
    expect(mail.text).toContain(`Subscription ${id}`)
  })

  it("says what to do without a link, with a link that has ended, and while the server does not answer", async () => {
    const { link, operator, url } = await opened()
    const { context, page } = await visit(url)
    await context.addInitScript(axe.source)
    await page.goto(`${url}/portal`)
    await page.getByRole("heading", { name: "Open this page with a link" }).waitFor()
    expect(await faultsOf(page)).toEqual([])
    // the same tab, so only the fragment changes
    // and the same link once more
    for (const url of [link.url!, link.url!]) {
      // the view of the first link is shown until the page has seen the second
      const session = page.waitForResponse("**/portal/v1/session")
      await page.goto(url)
      await session
      await page.getByRole("heading", { name: "Subscriptions" }).waitFor()
    }
    await operator.suspendTenant("acme")
    await page.getByRole("link", { name: "Deliveries" }).click()
    await page.getByRole("heading", { name: "No access" }).waitFor()
    await page.getByText("The tenant is suspended.").waitFor()
    expect(await faultsOf(page)).toEqual([])
    await operator.resumeTenant("acme")
    await page.getByRole("button", { name: "Try again" }).click()
    await page.getByRole("heading", { name: "Deliveries" }).waitFor()
    const keys = await operator.listApiKeys("acme")
    await operator.revokeApiKey("acme", keys.data.find(({ name }) => name === "shop")!.id)
    await page.getByRole("heading", { name: "This link does not work any more" }).waitFor()
    await page.getByText("Ask the company that sent it for a new link").waitFor()
    // the focus moves after the page is painted
    await page.locator("h1:focus").waitFor()
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0)
    expect(await faultsOf(page)).toEqual([])
    await page.route("**/portal/v1/session", (route) => route.abort())
    await page.reload()
    await page.getByText("The server cannot be reached.").waitFor()
    await page.unroute("**/portal/v1/session")
    await page.getByRole("button", { name: "Try again" }).click()
    await page.getByRole("heading", { name: "Open this page with a link" }).waitFor()
    // another customer's link in the same tab, without a theme
    const accent = () => page.evaluate(() => document.documentElement.style.getPropertyValue("--portal-accent"))
    const second = async (theme: object) => (await operator.createPortalLink("acme", { client: "rival", ...theme })).url!
    await page.goto(await second({ theme: { accent: "#0b5fff" } }))
    await page.getByRole("heading", { name: "Subscriptions" }).waitFor()
    expect(await accent()).toBe("#0b5fff")
    await page.goto(await second({ expiresInSeconds: 200 }))
    await eventually(async () => await accent() === "" || undefined)
    await page.locator("[aria-live=polite]", { hasText: /^The link ends in [123] min\. Ask for a new one, and open it in this tab\.$/ }).waitFor({ state: "attached" })
  })

  it("keeps what was typed for a notice when the link ends, shows it with the next link in the same tab, and stores nothing", async () => {
    const { link, operator, url } = await opened()
    const { page } = await visit(url)
    await page.goto(link.url!)
    await page.getByRole("link", { name: "Notices" }).click()
    await page.getByLabel("E-mail address").fill("edi@shop.example")
    await page.getByRole("link", { name: "Secrets" }).click()
    await page.getByRole("heading", { name: "Secrets" }).waitFor()
    await page.getByRole("link", { name: "Notices" }).click()
    expect(await page.getByLabel("E-mail address").inputValue()).toBe("edi@shop.example")
    const { data } = await operator.listApiKeys("acme")
    await operator.revokeApiKey("acme", data.find(({ name }) => name === "shop")!.id)
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("What you typed, or a new secret, is kept while this tab shows this page: paste the new link into its address bar to go on.").waitFor()
    expect(await page.evaluate(() => [sessionStorage.length, localStorage.length])).toEqual([0, 0])
    // another client's link shows nothing of it
    await page.goto((await operator.createPortalLink("acme", { client: "rival" })).url!)
    await page.getByLabel("E-mail address").waitFor()
    expect(await page.getByLabel("E-mail address").inputValue()).toBe("")
    await operator.createApiKey("acme", { name: "shop", roles: ["customer"], accounts: ["A-shop"] })
    await page.goto((await operator.createPortalLink("acme", { client: "shop" })).url!)
    await eventually(async () => await page.getByLabel("E-mail address").inputValue() === "edi@shop.example" || undefined)
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByText("Notices are sent to edi@shop.example.").first().waitFor()
    expect(await page.getByText("Not saved yet.").count()).toBe(0)
  })

  it("keeps new secrets of one tenant's client apart from a client of the same name in another tenant", async () => {
    const { link, operator, url } = await opened()
    await operator.putTenant("other", { name: "Other Freight" })
    await operator.createApiKey("other", { name: "shop", roles: ["customer"], accounts: ["A-shop"] })
    await operator.putSecret("other", "other-secret", { client: "shop" })
    const other = await operator.createPortalLink("other", { client: "shop" })
    for (const { token } of [link, other]) globalThis.waybillTestOutput?.secret(token)
    const { page } = await visit(url)
    await page.goto(link.url!)
    await page.getByRole("link", { name: "Secrets" }).click()
    await page.getByRole("button", { name: "Rotate shop-secret" }).click()
    await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click()
    await page.getByRole("heading", { name: "New secret of shop-secret" }).waitFor()
    globalThis.waybillTestOutput?.secret(await page.getByText(/^whsec_/).innerText())
    await page.goto(other.url!)
    await page.getByRole("button", { name: "Rotate other-secret" }).waitFor()
    expect(await page.getByText(/^whsec_/).count()).toBe(0)
    await page.goto(link.url!)
    await page.getByRole("heading", { name: "New secret of shop-secret" }).waitFor()
  })

  it("keeps new secrets until they are stored, while another is rotated and when the link ends, and asks before they are lost", async () => {
    const { link, operator, url } = await opened()
    await operator.putSecret("acme", "second-secret", { client: "shop" })
    const { page } = await visit(url)
    await page.goto(link.url!)
    const secrets = () => page.getByText(/^whsec_/).allInnerTexts()
    for (const name of ["shop-secret", "second-secret"]) {
      await page.getByRole("link", { name: "Secrets" }).click()
      await page.getByRole("button", { name: `Rotate ${name}` }).click()
      await page.getByRole("dialog").getByRole("button", { name: "Rotate" }).click()
      await page.getByRole("heading", { name: `New secret of ${name}` }).waitFor()
      await page.getByRole("link", { name: "Subscriptions" }).click()
      await page.getByRole("heading", { name: "Subscriptions" }).waitFor()
    }
    await page.getByRole("link", { name: "Secrets" }).click()
    await page.getByRole("heading", { name: "New secret of shop-secret" }).waitFor()
    const made = await secrets()
    for (const secret of made) globalThis.waybillTestOutput?.secret(secret)
    expect(made).toHaveLength(2)

    const { data } = await operator.listApiKeys("acme")
    await operator.revokeApiKey("acme", data.find(({ name }) => name === "shop")!.id)
    await page.getByRole("link", { name: "Deliveries" }).click()
    await page.getByText("What you typed, or a new secret, is kept while this tab shows this page").waitFor()
    expect(await secrets()).toEqual([])
    await page.goto((await operator.createPortalLink("acme", { client: "rival" })).url!)
    await page.getByRole("link", { name: "Secrets" }).click()
    await page.getByRole("button", { name: "Rotate rival-secret" }).waitFor()
    expect(await secrets()).toEqual([])
    await operator.createApiKey("acme", { name: "shop", roles: ["customer"], accounts: ["A-shop"] })
    await page.goto((await operator.createPortalLink("acme", { client: "shop" })).url!)
    await page.getByRole("heading", { name: "New secret of shop-secret" }).waitFor()
    expect(await secrets()).toEqual(made)
    await page.getByRole("button", { name: "I have stored it" }).first().click()
    await eventually(async () => (await secrets()).length === 1 || undefined)
    expect(await secrets()).toEqual([made[1]])

    const asked = page.waitForEvent("dialog")
    await page.evaluate(() => location.reload())
    expect((await asked).type()).toBe("beforeunload")
    expect(await secrets()).toEqual([made[1]])
  })

  it("shows what another tab has saved for notices, changes only what was typed, and keeps what is typed while it saves", async () => {
    const { link, url } = await opened()
    const { context, page } = await visit(url)
    const portal = new PortalClient({ baseUrl: url, bearer: link.token })
    await page.goto(link.url!)
    await page.getByRole("link", { name: "Notices" }).click()
    await page.getByRole("group", { name: "Notices by webhook" }).getByLabel("Attempts end soon").uncheck()
    await portal.putContact({ email: "edi@shop.example" })
    await eventually(async () => await page.getByLabel("E-mail address").inputValue() === "edi@shop.example" || undefined)
    let release = () => {}
    const held = new Promise<void>((resolve) => release = resolve)
    await context.route("**/portal/v1/contact", async (route) => {
      if (route.request().method() === "PUT") await held
      await route.continue()
    })
    await page.getByRole("button", { name: "Save" }).click()
    await page.getByLabel("Webhook address").fill("https://notices.shop.example/hook")
    release()
    await page.getByText("Notices are sent to edi@shop.example.").first().waitFor()
    expect(await portal.getContact()).toMatchObject({ email: "edi@shop.example", webhookKinds: ["failing", "dead_letter", "paused"] })
    expect(await page.getByLabel("Webhook address").inputValue()).toBe("https://notices.shop.example/hook")
    expect(await page.getByText("Not saved yet.").count()).toBe(1)
    expect(await page.getByRole("group", { name: "Notices by webhook" }).getByLabel("Attempts end soon").isChecked()).toBe(false)
  })

  it("is shown in a frame of the origins that the settings name, and of no other", async () => {
    let link = ""
    const hosts = await Promise.all([1, 2].map(() => listening((_, response) => void response.writeHead(200, { "content-type": "text/html" }).end(`<iframe title="Webhooks" width="900" height="600" src="${link}"></iframe>`))))
    const [allowed, other] = hosts.map(urlOf) as [string, string]
    const { link: made, url } = await opened({ WAYBILL_PORTAL_FRAME_ANCESTORS: `https://app.example.com, ${allowed}` })
    link = made.url!
    const { page } = await visit(url)
    await page.goto(allowed)
    await page.frameLocator("iframe").getByRole("heading", { name: "Subscriptions" }).waitFor()
    const blocked = page.waitForEvent("console", (message) => message.text().includes("frame-ancestors"))
    await page.goto(other)
    await blocked
    expect(await page.frameLocator("iframe").getByRole("heading", { name: "Subscriptions" }).count()).toBe(0)
  })
})
