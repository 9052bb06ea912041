import { PortalAccess } from "@waybill/core"
import { Receiver } from "@waybill/testkit"
import { Effect, Redacted } from "effect"
import { SignJWT } from "jose"
import { describe, expect, it } from "vitest"
import { makePortalTokens } from "../../src/portal/PortalTokens.ts"
import { operations } from "../hostile/Operations.ts"
import { operatorKey, readOnlyKey, reportedEvent, runningService } from "../TestService.ts"

/** What one client has: a subscription with a delivery, and a secret of its own. */
interface Own {
  readonly subscriptionId: string
  readonly deliveryId: string
}

const operator = (method: string, path: string, body?: unknown) => service.send(method, `/operator/v1/tenants/acme${path}`, { key: operatorKey, body })

const linkFor = async (client: string, more: object = {}) => {
  const made = await operator("POST", "/portal-links", { client, ...more })
  globalThis.waybillTestOutput?.secret(made.json.token)
  return made
}

const asBearer = (bearer: string) => ({ headers: { authorization: `Bearer ${bearer}` } })

const portal = (method: string, path: string, bearer = token, body?: unknown) => service.send(method, `/portal/v1${path}`, { ...asBearer(bearer), body })

const plant = async (name: string, key: string): Promise<Own> => {
  await operator("PUT", `/secrets/${name}-secret`, { client: name })
  const { json } = await acme.subscribe(key, { endpointUrl: `https://${name}.example/hook`, hmacSecretId: `${name}-secret` })
  await acme.publish(reportedEvent(`${name}-shipment`, { eventId: `${name}-1`, accounts: [name.toUpperCase()] }))
  await service.deliver()
  const { json: deliveries } = await operator("GET", `/deliveries?subscriptionId=${json.id}`)
  return { subscriptionId: json.id, deliveryId: deliveries.data[0].deliveryId }
}

const service = await runningService()
const acme = await service.tenant("acme")
const ownKey = await acme.customer("shop", ["SHOP"])
const otherKey = await acme.customer("rival", ["RIVAL"])
const own = await plant("shop", ownKey)
const other = await plant("rival", otherKey)
const token = (await linkFor("shop")).json.token

describe("a portal link", () => {
  it("opens the subscriptions, deliveries and secrets of its client", async () => {
    const subscriptions = await portal("GET", "/subscriptions")
    expect(subscriptions.json.data.map(({ subscriptionId }: Own) => subscriptionId)).toEqual([own.subscriptionId])
    expect((await portal("GET", `/subscriptions/${own.subscriptionId}`)).json).toEqual(subscriptions.json.data[0])
    expect((await portal("GET", "/deliveries")).json.data.map(({ deliveryId }: Own) => deliveryId)).toEqual([own.deliveryId])
    expect(JSON.parse((await portal("GET", `/deliveries/${own.deliveryId}`)).json.body).events).toHaveLength(1)
    expect((await portal("GET", "/secrets")).json.data.map(({ hmacSecretId }: { hmacSecretId: string }) => hmacSecretId)).toEqual(["shop-secret"])
  })

  it("says who its client is, how long it lasts, and how the page looks", async () => {
    const theme = { name: "Acme Freight", accent: "#0b5fff", logoUrl: "https://cdn.example/logo.svg" }
    const { json, status } = await linkFor("shop", { expiresInSeconds: 120, theme })
    expect(status).toBe(201)
    expect(json.url).toBe(null)
    expect((await portal("GET", "/session", json.token)).json).toEqual({ tenantId: "acme", client: "key:shop", expiresAt: json.expiresAt, theme })
  })

  it("answers another client's ids like unknown ones", async () => {
    const unknown = "0199ffff-0000-7000-8000-00000000d000"
    for (const path of ["/subscriptions/ID", "/deliveries/ID", "/subscriptions/ID/pause", "/subscriptions/ID/resume", "/subscriptions/ID/test", "/deliveries/ID/retry"]) {
      const method = path.endsWith("ID") ? "GET" : "POST"
      const id = path.startsWith("/deliveries") ? other.deliveryId : other.subscriptionId
      const refused = await portal(method, path.replace("ID", id))
      const missing = await portal(method, path.replace("ID", unknown))
      expect([path, refused.status]).toEqual([path, 404])
      expect(refused.json.detail.replaceAll(id, "ID")).toBe(missing.json.detail.replaceAll(unknown, "ID"))
    }
    expect((await portal("POST", "/secrets/rival-secret/rotate")).json.code).toBe("secret_not_found")
    expect((await portal("POST", "/secrets/main/rotate")).json.code).toBe("secret_not_found")
    expect((await portal("GET", `/deliveries?subscriptionId=${other.subscriptionId}`)).json.data).toEqual([])
  })

  it("tells a client what a client can do about a secret that belongs to another one, or to nobody", async () => {
    const key = await acme.customer("moved", ["MOVED"])
    const { subscriptionId } = await plant("moved", key)
    const { token: mine } = (await linkFor("moved")).json
    await operator("PUT", "/secrets/moved-secret", { client: "rival", rotate: false })
    for (const call of ["test", "resume"]) {
      if (call === "resume") await portal("POST", `/subscriptions/${subscriptionId}/pause`, mine)
      const { json, status } = await portal("POST", `/subscriptions/${subscriptionId}/${call}`, mine)
      expect([call, status, json.code, json.detail]).toEqual([
        call, 409, "secret_not_usable",
        "Secret moved-secret no longer belongs to you, so nothing is signed with it. Name another secret in the subscription, or ask the operator for this one."
      ])
    }
    expect((await portal("POST", "/secrets/moved-secret/rotate", mine)).json).toMatchObject({
      code: "secret_not_found",
      detail: "No secret moved-secret belongs to you alone. Take the name from the list of your secrets, or ask the operator for a secret."
    })
  })

  it("is accepted by the portal only", async () => {
    const others = operations.filter(({ contract, endpoint }) => contract.area !== "portal" && endpoint.access !== "public")
    expect(others.length).toBeGreaterThan(50)
    for (const { endpoint, id, template } of others) {
      const { status } = await service.send(endpoint.method, template.replaceAll(/\{[^}]+\}/g, "acme"), asBearer(token))
      expect([id, status]).toEqual([id, 401])
    }
    expect((await service.send("GET", "/portal/v1/session", { headers: { "x-api-key": token } })).status).toBe(401)
    expect((await service.send("GET", "/portal/v1/session", { key: otherKey, ...asBearer(token), headers: { ...asBearer(token).headers, "x-api-key": otherKey } })).status).toBe(401)
  })

  it("is refused when it is expired, forged, for another audience, or for longer than a day", async () => {
    const { tokenKeys: [key] } = await service.run(PortalAccess)
    const now = Math.floor(Date.now() / 1000)
    const signed = (change: { audience?: string; issuedAt?: number; expiresAt?: number; key?: Uint8Array; type?: string; issuer?: string } = {}) =>
      new SignJWT({ tenant: "acme", theme: {} }).setProtectedHeader({ alg: "HS256", typ: change.type ?? "waybill-portal+jwt" }).setIssuer(change.issuer ?? "waybill")
        .setAudience(change.audience ?? "waybill-portal").setSubject("key:shop").setIssuedAt(change.issuedAt ?? now - 60).setExpirationTime(change.expiresAt ?? now + 600)
        .sign(change.key ?? key!)
    expect((await portal("GET", "/session", await signed())).status).toBe(200)
    const refused = {
      expired: await signed({ expiresAt: now - 30 }),
      forged: await signed({ key: new Uint8Array(32) }),
      audience: await signed({ audience: "waybill" }),
      issuer: await signed({ issuer: "https://login.example" }),
      type: await signed({ type: "JWT" }),
      old: await signed({ issuedAt: now - 90_000 }),
      unsigned: `${(await signed()).split(".").slice(0, 2).join(".")}.`
    }
    const tokens = await service.run(makePortalTokens)
    for (const [why, bearer] of Object.entries(refused)) {
      expect([why, (await portal("GET", "/session", bearer)).status]).toEqual([why, 401])
      expect([why, (await service.run(Effect.flip(tokens.verify(Redacted.make(bearer)))))._tag]).toEqual([why, "Unauthenticated"])
    }
  })

  it("is refused while its client has no access, and while its tenant is suspended", async () => {
    const key = await acme.customer("leaver", [])
    const { json } = await linkFor("leaver")
    expect((await portal("GET", "/subscriptions", json.token)).status).toBe(200)
    await operator("DELETE", `/api-keys/${key.split(".")[2]}`)
    expect((await portal("GET", "/subscriptions", json.token)).status).toBe(401)
    await operator("POST", "/suspend")
    expect((await portal("GET", "/subscriptions")).json.code).toBe("tenant_suspended")
    await operator("POST", "/resume")
    await operator("DELETE", "/clients/leaver")
    expect((await portal("GET", "/subscriptions", json.token)).status).toBe(401)
  })

  it("is made by an operator for a client that exists, and is in the audit log", async () => {
    expect((await linkFor("nobody")).json.code).toBe("client_not_found")
    expect((await service.send("POST", "/operator/v1/tenants/acme/portal-links", { key: readOnlyKey, body: { client: "shop" } })).status).toBe(403)
    expect((await service.send("POST", "/operator/v1/tenants/acme/portal-links", { key: ownKey, body: { client: "shop" } })).status).toBe(403)
    for (const wrong of [{ expiresInSeconds: 90_000 }, { theme: { accent: "red" } }, { theme: { background: "#fff;}" } }, { theme: { text: "#00000" } }, { theme: { radius: 25 } }, { theme: { font: "serif" } }, { theme: { logoUrl: "javascript:alert(1)" } }, { theme: { name: "two\nlines" } }]) {
      expect((await linkFor("shop", wrong)).json.code).toBe("invalid_input")
    }
    const audit = await service.send("GET", "/operator/v1/audit?tenant=acme", { key: operatorKey })
    expect(audit.json.data.some(({ action, object }: any) => action === "portal-link.create" && object.kind === "client" && object.id === "key:shop")).toBe(true)
    expect(audit.text).not.toContain(token)
  })
})

describe("a customer in its portal", () => {
  it("comes with its API key as well, without a theme; an operator is refused", async () => {
    expect((await service.send("GET", "/portal/v1/session", { key: ownKey })).json).toEqual({ tenantId: "acme", client: "key:shop", expiresAt: null, theme: {} })
    expect((await service.send("GET", "/portal/v1/subscriptions", { key: operatorKey })).status).toBe(403)
    expect((await service.send("GET", "/portal/v1/subscriptions")).status).toBe(401)
  })

  it("sends a delivery again, with the same bytes and id", async () => {
    const url = "https://shop.example/hook"
    const before = await service.received(url)
    expect((await portal("POST", `/deliveries/${own.deliveryId}/retry`)).status).toBe(202)
    await service.deliver()
    const after = await service.received(url)
    expect(after).toHaveLength(before.length + 1)
    expect(after.at(-1)!.text).toBe(before[0]!.text)
    expect(after.at(-1)!.headers["webhook-id"]).toBe(own.deliveryId)
  })

  it("resumes what the service paused, and not what an operator paused", async () => {
    await operator("POST", `/subscriptions/${own.subscriptionId}/pause`, { reason: "The receiver is being moved." })
    const refused = await portal("POST", `/subscriptions/${own.subscriptionId}/resume`)
    expect([refused.status, refused.json.code]).toEqual([409, "subscription_paused_by_operator"])
    expect(refused.json.detail).toContain("The receiver is being moved.")
    await operator("POST", `/subscriptions/${own.subscriptionId}/resume`)
    await service.script("https://shop.example/hook", Receiver.gone)
    await acme.publish(reportedEvent("shop-shipment", { eventId: "shop-gone", accounts: ["SHOP"] }))
    await service.deliver()
    expect((await portal("GET", `/subscriptions/${own.subscriptionId}`)).json).toMatchObject({ state: "paused", pausedBy: "service" })
    await service.script("https://shop.example/hook", Receiver.accept())
    expect((await portal("POST", `/subscriptions/${own.subscriptionId}/resume`)).json).toMatchObject({ state: "active", pausedBy: null })
    await service.deliver()
  })

  it("pauses a subscription of its own, and resumes it", async () => {
    expect((await portal("POST", `/subscriptions/${own.subscriptionId}/pause`)).json).toMatchObject({ state: "paused", pausedBy: "client", reason: null })
    expect((await portal("POST", `/subscriptions/${own.subscriptionId}/pause`)).status).toBe(200)
    expect((await portal("POST", `/subscriptions/${own.subscriptionId}/resume`)).json).toMatchObject({ state: "active", pausedBy: null })
  })

  it("sends a signed test event to its endpoint, and is told the result", async () => {
    const url = "https://shop.example/hook"
    expect((await portal("POST", `/subscriptions/${own.subscriptionId}/test`)).json).toEqual({ accepted: true, status: 200, detail: "The receiver answered 200." })
    const { headers, json } = (await service.received(url)).at(-1)!
    expect(json).toMatchObject({ type: "webhook.test", subscriptionId: own.subscriptionId })
    expect(headers["webhook-signature"]).toMatch(/^v1,/)
    await service.script(url, Receiver.fail(503))
    expect((await portal("POST", `/subscriptions/${own.subscriptionId}/test`)).json).toMatchObject({ accepted: false, status: 503 })
    await service.script(url, Receiver.accept())
    const statuses: Array<number> = []
    for (let call = 0; call < 10; call++) statuses.push((await portal("POST", `/subscriptions/${own.subscriptionId}/test`)).status)
    expect(statuses.filter((status) => status === 429)).toHaveLength(2)
  })

  it("rotates its own secret, which is shown once and signs at once", async () => {
    const rotated = await portal("POST", "/secrets/shop-secret/rotate", token, { overlapSeconds: 3600 })
    expect(rotated.json.secret).toMatch(/^whsec_/)
    const [secret] = (await portal("GET", "/secrets")).json.data
    expect(secret).toMatchObject({ hmacSecretId: "shop-secret", client: "key:shop", usedBy: 1 })
    expect(secret.signsUntil).not.toBeNull()
    expect(JSON.stringify(secret)).not.toContain(rotated.json.secret)
    expect((await portal("POST", "/secrets/shop-secret/rotate", token, { client: "rival" })).json.code).toBe("invalid_input")
  })

  it("has an address for notices of its own, and is told that this service sends no e-mail", async () => {
    expect((await portal("GET", "/contact")).json).toEqual({ email: null, emailKinds: null, sendsMail: false, webhook: null, webhookKinds: null })
    expect((await portal("PUT", "/contact", token, { email: "edi@shop.example" })).json).toEqual({ email: "edi@shop.example", emailKinds: null, sendsMail: false, webhook: null, webhookKinds: null })
    expect((await service.send("GET", "/portal/v1/contact", { key: otherKey })).json.email).toBe(null)
    expect((await portal("PUT", "/contact", token, { email: "a@b.example, c@d.example" })).json.code).toBe("invalid_input")
    expect((await portal("PUT", "/contact", token, { email: null })).json.email).toBe(null)
  })

  it("is in the audit log with its writes", async () => {
    const wanted = ["portal-contact.put", "portal-delivery.retry", "portal-secret.rotate", "portal-subscription.pause", "portal-subscription.resume", "portal-subscription.test"]
    // calls of clients are recorded in batches, within a second
    await expect.poll(async () => {
      const { json } = await service.send("GET", "/operator/v1/audit?tenant=acme&actor=key:shop&limit=500", { key: operatorKey })
      const seen = new Set(json.data.map(({ action }: { action: string }) => action))
      return wanted.filter((action) => !seen.has(action))
    }, { timeout: 10_000 }).toEqual([])
  })

  it("sees no body before the first attempt has ended, because it may contain freight that it lost", async () => {
    const url = "https://shop.example/hook"
    let seen: unknown
    await service.script(url, (request) =>
      Effect.promise(async () => {
        seen = (await portal("GET", `/deliveries/${request.headers["webhook-id"]}`)).json.body
      }).pipe(Effect.andThen(Receiver.accept()(request))))
    await acme.publish(reportedEvent("shop-shipment", { eventId: "shop-body", accounts: ["SHOP"] }))
    await service.deliver()
    expect(seen).toBeNull()
    const { json } = await portal("GET", "/deliveries?limit=1")
    expect((await portal("GET", `/deliveries/${json.data[0].deliveryId}`)).json.body).toContain("shop-body")
  })
})
