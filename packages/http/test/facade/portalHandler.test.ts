import type { Mail } from "@waybill/core"
import { pickupRequest } from "@waybill/testkit"
import { createServer } from "node:http"
import { describe, expect, it } from "vitest"
import { listening } from "../listening.ts"
import { reportedEvent } from "../TestService.ts"
import { carrier, customer, start, startWithTenant } from "./Host.ts"

const at = (path: string, init?: RequestInit) => new Request(`https://freight.example.com${path}`, init)
const json = async (response: Response) => await response.json() as any

const opened = async () => {
  const waybill = await startWithTenant({ egressAllow: ["127.0.0.1"], portal: { pageUrl: "https://freight.example.com/portal/", theme: { name: "Acme Freight", accent: "#0b5fff" } } })
  await waybill.secrets.put("acme", "main", { anyClient: true })
  const own = await waybill.subscriptions.create(customer, { endpointUrl: "https://shop.example/hook", hmacSecretId: "main" })
  const other = await waybill.subscriptions.create({ ...customer, client: "rival" }, { endpointUrl: "https://rival.example/hook", hmacSecretId: "main" })
  return { waybill, own, other, session: { tenantId: "acme", client: "shop" } }
}

describe("portalHandler", () => {
  it("answers the portal's calls for a customer of the host's own session, and shows nothing of others", async () => {
    const { other, own, session, waybill } = await opened()
    expect(await json(await waybill.portalHandler(at("/portal/v1/session"), session))).toEqual({ tenantId: "acme", client: "key:shop", expiresAt: null, theme: { name: "Acme Freight", accent: "#0b5fff" } })
    const { data } = await json(await waybill.portalHandler(at("/portal/v1/subscriptions"), session))
    expect(data.map(({ subscriptionId }: any) => subscriptionId)).toEqual([own.id])
    expect((await waybill.portalHandler(at(`/portal/v1/subscriptions/${other.id}`), session)).status).toBe(404)
    expect((await json(await waybill.portalHandler(at(`/portal/v1/subscriptions/${own.id}/pause`, { method: "POST" }), session))).state).toBe("paused")
  })

  it("answers no other call, and no caller without a session, a link or a credential", async () => {
    const { session, waybill } = await opened()
    for (const path of ["/visibility/subscriptions", "/operator/v1/tenants", "/healthz", "/"]) expect([path, (await waybill.portalHandler(at(path), session)).status]).toEqual([path, 404])
    expect((await waybill.portalHandler(at("/portal/v1/session"), undefined)).status).toBe(401)
    expect((await waybill.handler(at("/portal/v1/session"))).status).toBe(401)
    expect((await waybill.portalHandler(at("/portal/v1/session"), { tenantId: "nobody", client: "shop" })).status).toBe(401)
    await waybill.tenants.suspend("acme")
    expect((await waybill.portalHandler(at("/portal/v1/session"), session)).status).toBe(403)
  })

  it("takes the token of a link in place of the session, with the link's theme over that of the settings", async () => {
    const { session, waybill } = await opened()
    await waybill.apiKeys.create("acme", { name: "rival", roles: ["customer"], accounts: [] })
    const link = await waybill.portal.createLink("acme", { client: "rival", theme: { accent: "#00aa00" } })
    globalThis.waybillTestOutput?.secret(link.token)
    expect(link.url).toBe(`https://freight.example.com/portal/#token=${link.token}`)
    const response = await waybill.portalHandler(at("/portal/v1/session", { headers: { authorization: `Bearer ${link.token}` } }), session)
    expect(await json(response)).toEqual({ tenantId: "acme", client: "key:rival", expiresAt: link.expiresAt, theme: { name: "Acme Freight", accent: "#00aa00" } })
  })

  it("sends notices through the host's own mail", async () => {
    const mails: Array<Mail> = []
    let tell = () => {}
    const told = new Promise<void>((resolve) => tell = resolve)
    const endpoint = createServer((request, response) => void request.resume().on("end", () => response.writeHead(410).end()))
    const endpointUrl = `${await listening(endpoint)}/hook`
    const waybill = start({
      egressAllow: ["127.0.0.1"],
      mail: async (mail) => {
        mails.push(mail)
        tell()
        throw new Error("The mail server is down.")
      }
    })
    await waybill.tenants.put("acme", { name: "Acme" })
    await waybill.secrets.put("acme", "main", { anyClient: true })
    const { id } = await waybill.subscriptions.create(customer, { endpointUrl, hmacSecretId: "main" })
    expect(await waybill.portal.setContact(customer, { email: "edi@shop.example" })).toEqual({ email: "edi@shop.example", emailKinds: null, sendsMail: true, webhook: null, webhookKinds: null })
    await waybill.events.publish(carrier, [reportedEvent("S1", { accounts: ["A1"] })])
    await waybill.runOnce()
    expect((await waybill.portal.subscription(customer, id)).pausedBy).toBe("service")
    await waybill.start()
    await told
    expect(mails).toMatchObject([{ to: "edi@shop.example", subject: "Your webhook is paused", text: expect.stringContaining(id) }])
  })

  it("sends confirmations of pickups through the host's own mail, after the call", async () => {
    const mails: Array<Mail> = []
    const waybill = await startWithTenant({ mail: async (mail) => void mails.push(mail) })
    const [answer] = await waybill.pickups.create(customer, pickupRequest({ orgAccountNumber: "A1", day: "2099-11-20", more: { confirmationEmail: "dock@shop.example" } }))
    expect(answer!.pickupMessage).toContain("This answer is also sent to confirmationEmail.")
    expect(mails).toEqual([])
    await waybill.runOnce()
    expect(mails).toMatchObject([{ to: "dock@shop.example", subject: `Pickup ${answer!.carrierPickupNumber}: Accept` }])
  })

  it("needs a theme and an address that a page can use", () => {
    expect(() => start({ portal: { theme: { accent: "red" } } })).toThrow("accent is a color such as #0b5fff.")
    expect(() => start({ portal: { theme: { style: "x" } as never } })).toThrow(RangeError)
    expect(() => start({ portal: { pageUrl: "javascript:alert(1)" } })).toThrow("portal.pageUrl is an address")
  })
})
