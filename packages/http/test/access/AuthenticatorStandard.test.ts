import { AccessStore } from "@waybill/core"
import { Effect } from "effect"
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from "jose"
import { generateKeyPairSync } from "node:crypto"
import { createServer } from "node:http"
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest"
import { listening } from "../listening.ts"
import { type Answer, operatorKey, problemCode, reportedEvent, runningService, type TestService } from "../TestService.ts"

const issuer = "https://login.example/"
const audience = "waybill"

type PrivateKey = Awaited<ReturnType<typeof generateKeyPair>>["privateKey"]

/** The key set of a fake identity provider, which can fail on request. */
const startKeys = async () => {
  const pairs = await Promise.all(["k1", "k2"].map(async (kid) => ({ kid, ...(await generateKeyPair("ES256")) })))
  const rsa = await generateKeyPair("RS256")
  const keys = [
    ...await Promise.all(pairs.map(async ({ kid, publicKey }) => ({ ...(await exportJWK(publicKey)), kid, alg: "ES256", use: "sig" }))),
    { ...(await exportJWK(rsa.publicKey)), kid: "rsa", use: "sig" }
  ]
  const state = { asked: 0, failing: false }
  const server = createServer((_request, response) => {
    state.asked += 1
    response.writeHead(state.failing ? 500 : 200, { "content-type": "application/json" })
    response.end(state.failing ? "down" : JSON.stringify({ keys }))
  })
  return {
    url: `${await listening(server)}/jwks`,
    state,
    /** Adds a key to the set. */
    add: async (kid: string): Promise<PrivateKey> => {
      const { privateKey, publicKey } = await generateKeyPair("ES256")
      keys.push({ ...(await exportJWK(publicKey)), kid, alg: "ES256", use: "sig" })
      return privateKey
    },
    /** Adds an RSA key without its numbers, and one that is too short, in front of the others. */
    addUnusable: (): void => void keys.unshift(
      { kty: "RSA", kid: "empty", use: "sig" },
      { n: generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey.export({ format: "jwk" }).n!, e: "AQAB", kty: "RSA", kid: "short", use: "sig" }
    ),
    remove: (kid: string): void => void keys.splice(keys.findIndex((key) => key.kid === kid), 1),
    key: pairs[0]!.privateKey,
    rsa: rsa.privateKey
  }
}

const keys = await startKeys()
const service = await runningService({ trustForwarded: true, standard: { jwt: { jwksUrl: keys.url, allowHttpHosts: ["127.0.0.1"], issuer, audience } } })
const acme = await service.tenant("acme")

const now = () => Math.floor(Date.now() / 1000)

interface TokenOptions {
  readonly claims?: Readonly<Record<string, unknown>>
  readonly key?: PrivateKey | Uint8Array
  readonly header?: { readonly alg?: string; readonly kid?: string }
}

const token = ({ claims = {}, header = {}, key = keys.key }: TokenOptions = {}): Promise<string> =>
  new SignJWT({ iss: issuer, aud: audience, exp: now() + 300, sub: "shop", tenant: "acme", roles: ["customer"], accounts: ["A1"], ...claims })
    .setProtectedHeader({ alg: "ES256", kid: "k1", ...header })
    .sign(key)

const list = (bearer: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  service.send("GET", "/visibility/v1/events", { headers: { authorization: `Bearer ${bearer}`, ...headers } })

const idsOf = (answer: Answer) => answer.json.data.map((event: { eventId: string }) => event.eventId)

describe("keys", () => {
  it("are accepted in X-API-Key or as a bearer token (SPEC-GAP-X1)", async () => {
    expect((await service.send("GET", "/visibility/v1/events", { key: acme.carrier })).status).toBe(200)
    expect((await list(acme.carrier)).status).toBe(200)
    expect((await service.send("GET", "/visibility/v1/events", { headers: { authorization: `bEARER   ${acme.carrier} ` } })).status).toBe(200)
    const tenants = (headers: Readonly<Record<string, string>>) => service.send("GET", "/operator/v1/tenants/acme/deliveries", { headers })
    expect((await tenants({ "x-api-key": operatorKey })).status).toBe(200)
    expect((await tenants({ authorization: `Bearer ${operatorKey}` })).status).toBe(200)
  })

  it.each([
    ["empty", ""],
    ["not ours", "abc"],
    ["one character short", (key: string) => key.slice(0, -1)],
    ["one character off", (key: string) => key.slice(0, -1) + (key.endsWith("A") ? "B" : "A")],
    ["of another tenant", (key: string) => key.replace(/^wb\.[^.]+/, `wb.${Buffer.from("other").toString("base64url")}`)],
    ["with an id that is none", (key: string) => key.replace(/\.[0-9a-f-]{36}\./, `.${"-".repeat(36)}.`)],
    ["the operator's, a little longer", `${operatorKey}x`],
    ["twice in one header", (key: string) => `${key}, ${key}`]
  ])("that are %s get 401", async (_what, change) => {
    const answer = await service.send("GET", "/visibility/v1/events", { key: typeof change === "string" ? change : change(acme.carrier) })
    expect([answer.status, problemCode(answer)]).toEqual([401, "unauthenticated"])
    expect(answer.headers.get("www-authenticate")).toBe("Bearer realm=\"waybill\", error=\"invalid_token\"")
  })

  it("that are wrong all get the same response", async () => {
    const answers = await Promise.all(["abc", "wb.x.y.z", acme.carrier.slice(0, -1), "a.b.c"].map((key) =>
      service.send("GET", "/visibility/v1/events", { key, headers: { "x-request-id": "same" } })))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  })

  it("are missing: 401 that says what to send", async () => {
    const answer = await service.send("GET", "/visibility/v1/events")
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, "Bearer realm=\"waybill\""])
    expect(answer.json.detail).toContain("X-API-Key")
  })

  it.each(["Basic YTpi", "Bearer", "Digest x", "Bearer a b"])("in an Authorization header that is %s are invalid", async (authorization) => {
    expect((await service.send("GET", "/visibility/v1/events", { headers: { authorization } })).status).toBe(401)
  })

  it.each([["Basic YTpi", 200], ["Digest x", 200], ["Negotiate", 200], ["Bearer", 401], ["bearer ", 401], ["Bearer a b", 401]])("beside an API key, an Authorization header of a proxy is ignored: %s", async (authorization, status) => {
    const send = (key: string) => service.send("GET", "/visibility/v1/events", { key, headers: { authorization } })
    expect((await send(acme.carrier)).status).toBe(status)
    expect((await send("wb.wrong")).status).toBe(401)
  })

  it("in two headers must belong to the same caller", async () => {
    const shop = await acme.customer("shop", ["A1"])
    const both = (key: string, bearer: string) => service.send("GET", "/visibility/v1/events", { key, headers: { authorization: `Bearer ${bearer}` } })
    expect((await both(acme.carrier, acme.carrier)).status).toBe(200)
    expect((await both(acme.carrier, shop)).status).toBe(401)
    expect((await both(shop, await acme.customer("shop", ["A2"]))).status).toBe(401)
    expect((await both(acme.carrier, "wb.x")).status).toBe(401)
    expect((await both("wb.x", acme.carrier)).status).toBe(401)
    expect((await both(shop, shop)).status).toBe(200)
    expect((await both(shop, await token())).status).toBe(401)
  })
})

describe("tokens", () => {
  it("identify the caller, its tenant and its accounts", async () => {
    await acme.publish(reportedEvent("T1", { eventId: "a1", accounts: ["A1"] }), reportedEvent("T2", { eventId: "a2", accounts: ["A2"] }))
    expect(idsOf(await list(await token()))).toEqual(["a1"])
    expect(idsOf(await list(await token({ claims: { accounts: ["A2"] } })))).toEqual(["a2"])
    expect(idsOf(await list(await token({ claims: { roles: ["carrier"], accounts: undefined } })))).toEqual(["a1", "a2"])
    expect(idsOf(await list(await token({ claims: { roles: ["offline_access", "customer", "uma_authorization"] } })))).toEqual(["a1"])
    expect((await list(await token({ key: keys.rsa, header: { alg: "RS256", kid: "rsa" } }))).status).toBe(200)
    })

  it("without a key id are checked with every matching key", async () => {
    const bare = await new SignJWT({ iss: issuer, aud: audience, exp: now() + 300, sub: "shop", tenant: "acme", roles: ["customer"] })
      .setProtectedHeader({ alg: "ES256" }).sign(keys.key)
    expect((await list(bare)).status).toBe(200)
    const stranger = await generateKeyPair("ES256")
    const foreign = await new SignJWT({ iss: issuer, aud: audience, exp: now() + 300, sub: "shop", tenant: "acme", roles: ["customer"] })
      .setProtectedHeader({ alg: "ES256" }).sign(stranger.privateKey)
    expect((await list(foreign)).status).toBe(401)
  })

  it("with a key that the provider added are accepted five seconds after the last fetch of its keys", async () => {
    vi.useFakeTimers({ toFake: ["Date", "performance"] })
    onTestFinished(() => void vi.useRealTimers())
    const other = await runningService({ standard: { jwt: { jwksUrl: keys.url, allowHttpHosts: ["127.0.0.1"], issuer, audience } } })
    await other.tenant("acme")
    const statusOf = async (bearer: string) => (await other.send("GET", "/visibility/v1/events", { headers: { authorization: `Bearer ${bearer}` } })).status
    expect(await statusOf(await token({ header: { kid: "unknown" } }))).toBe(401)
    const signed = await token({ key: await keys.add("k3"), header: { kid: "k3" } })
    expect(await statusOf(signed)).toBe(401)
    vi.advanceTimersByTime(5_100)
    expect(await statusOf(signed)).toBe(200)
  })

  it("authenticate operators too", async () => {
    const operator = await token({ claims: { roles: ["operator"], tenant: undefined, accounts: undefined } })
    expect((await service.send("GET", "/operator/v1/tenants/acme/deliveries", { headers: { authorization: `Bearer ${operator}` } })).status).toBe(200)
    expect((await list(operator)).status).toBe(403)
    expect((await list(await token({ claims: { roles: ["operator", "carrier"] } }))).status).toBe(403)
  })

  it("stay valid for one more minute, for clock differences", async () => {
    expect((await list(await token({ claims: { exp: now() - 30 } }))).status).toBe(200)
    expect((await list(await token({ claims: { exp: now() - 90 } }))).status).toBe(401)
    expect((await list(await token({ claims: { nbf: now() + 30 } }))).status).toBe(200)
    expect((await list(await token({ claims: { nbf: now() + 90 } }))).status).toBe(401)
  })

  it.each<readonly [string, TokenOptions]>([
    ["another issuer", { claims: { iss: "https://evil.example/" } }],
    ["no issuer", { claims: { iss: undefined } }],
    ["another audience", { claims: { aud: "other" } }],
    ["no audience", { claims: { aud: undefined } }],
    ["no end", { claims: { exp: undefined } }],
    ["no subject", { claims: { sub: undefined } }],
    ["a subject that is no name", { claims: { sub: "\u0000" } }],
    ["no tenant", { claims: { tenant: undefined } }],
    ["a tenant that does not exist", { claims: { tenant: "nobody" } }],
    ["a tenant that is no id", { claims: { tenant: "../acme" } }],
    ["no roles", { claims: { roles: [] } }],
    ["an unknown role", { claims: { roles: ["root"] } }],
    ["accounts that are no list", { claims: { accounts: "A1" } }],
    ["a key id nobody knows", { header: { kid: "k9" } }],
    ["the other key's id", { header: { kid: "k2" } }]
  ])("with %s get 401", async (_what, options) => {
    const answer = await list(await token(options))
    expect([answer.status, problemCode(answer)]).toEqual([401, "unauthenticated"])
  })

  it("that are invalid are logged with their reason, and nothing of the token", async () => {
    const before = service.log.length
    const tokens: ReadonlyArray<readonly [string, string]> = [
      ["JWT expired", await token({ claims: { exp: now() - 3600 } })],
      ["JWT audience is wrong", await token({ claims: { aud: "other" } })],
      ["JWT signed with an unknown key", await token({ header: { kid: "gone" } })],
      ["JWT signature is wrong", await token({ header: { kid: "k2" } })],
      ["JWT issuer is wrong", await token({ claims: { iss: "https://elsewhere.example/" } })],
      ["JWT of an unknown tenant", await token({ claims: { tenant: "nowhere" } })],
      ["JWT claim roles cannot be used", await token({ claims: { roles: "customer" } })],
      ["JWT without a known role", await token({ claims: { roles: ["king"] } })],
      ["JWT without the claim roles", await token({ claims: { roles: undefined } })],
      ["JWT claim accounts cannot be used", await token({ claims: { accounts: "A1" } })],
      ["JWT algorithm is not allowed", new UnsecuredJWT({ iss: issuer, aud: audience, exp: now() + 300, sub: "shop", tenant: "acme", roles: ["carrier"] }).encode()],
      ["JWT algorithm is not allowed", await new SignJWT({ iss: issuer, sub: "shop" }).setProtectedHeader({ alg: "HS256" }).sign(new TextEncoder().encode("x".repeat(32)))]
    ]
    for (const [index, [reason, bearer]] of tokens.entries()) {
      const address = `reason-${index}-${reason.replaceAll(" ", "-")}`
      expect((await list(bearer, { "x-request-id": address, "x-forwarded-for": `198.51.100.${index}` })).status).toBe(401)
      const line = service.log.slice(before).find(({ annotations, level }) => level === "WARN" && annotations["correlationId"] === address)
      expect(line?.message).toEqual(`Access refused: ${reason}.`)
    }
    const said = JSON.stringify(service.log.slice(before))
    for (const [, bearer] of tokens) for (const part of bearer.split(".").slice(1).filter((text) => text !== "")) expect(said).not.toContain(part)
  })

  it("signed with a shared secret, or not at all, get 401", async () => {
    const claims = { iss: issuer, aud: audience, exp: now() + 300, sub: "shop", tenant: "acme", roles: ["carrier"] }
    const symmetric = await new SignJWT(claims).setProtectedHeader({ alg: "HS256", kid: "k1" }).sign(new TextEncoder().encode("x".repeat(32)))
    expect((await list(symmetric)).status).toBe(401)
    expect((await list(new UnsecuredJWT(claims).encode())).status).toBe(401)
    const [head, , signature] = (await token()).split(".")
    const forged = `${head}.${Buffer.from(JSON.stringify({ ...claims, tenant: "acme" })).toString("base64url")}.${signature}`
    expect((await list(forged)).status).toBe(401)
  })

  it("of a key that cannot be used get 401, and others are checked with the keys that can", async () => {
    const set = await startKeys()
    set.addUnusable()
    const mixed = await runningService({ standard: { jwt: { jwksUrl: set.url, allowHttpHosts: ["127.0.0.1"], issuer, audience } } })
    await mixed.tenant("acme")
    const listWith = async (header: { readonly kid?: string | undefined }) =>
      (await mixed.send("GET", "/visibility/v1/events", { headers: { authorization: `Bearer ${await token({ key: set.rsa, header: { alg: "RS256", ...header } as TokenOptions["header"] & object })}` } })).status
    for (const kid of ["empty", "short"]) expect(await listWith({ kid })).toBe(401)
    expect(await listWith({ kid: undefined })).toBe(200)
    const messages = mixed.log.filter(({ level }) => level !== "DEBUG" && level !== "INFO").map(({ message }) => String(message))
    expect(messages).toEqual(Array(2).fill("Access refused: JWT signed with a key that cannot be used."))
  })

  it("that are junk cause no fetch from the provider", async () => {
    const before = keys.state.asked
    for (const junk of ["a.b.c", "e30.e30.e30", (await token({ claims: { iss: "https://evil.example/" } })), `${"x".repeat(3000)}.y.z`]) {
      expect((await list(junk)).status).toBe(401)
    }
    expect(keys.state.asked).toBe(before)
  })

  it("update the accounts that deliveries use", async () => {
    const seen: Array<unknown> = []
    const store = await service.run(AccessStore)
    const original = store.putClientAccess
    Object.assign(store, { putClientAccess: (tenantId: string, access: unknown) => Effect.andThen(Effect.sync(() => seen.push([tenantId, access])), original(tenantId, access as never)) })
    const call = async (claims: Readonly<Record<string, unknown>>) => (await list(await token({ claims: { sub: "mover", ...claims } }))).status
    for (const accounts of [["A1"], ["A1"], ["A2", "A1"], ["A1", "A2"], ["A3"]]) expect(await call({ accounts })).toBe(200)
    Object.assign(store, { putClientAccess: original })
    const access = { client: `jwt:${issuer}:mover`, origin: "token", seesAll: false, roles: ["customer"], live: { forMillis: 604_800_000 } }
    expect(seen).toEqual([
      ["acme", { ...access, accounts: ["A1"] }],
      ["acme", { ...access, accounts: ["A2", "A1"] }],
      ["acme", { ...access, accounts: ["A3"] }]
    ])
  })
})

describe("an unreachable provider", () => {
  let lonely: TestService
  let failing: Awaited<ReturnType<typeof startKeys>>

  beforeEach(async () => {
    failing = await startKeys()
    failing.state.failing = true
    lonely = await runningService({ standard: { jwt: { jwksUrl: failing.url, allowHttpHosts: ["127.0.0.1"], issuer, audience } } })
  })

  const ask = async (kid = "k1", key: PrivateKey = failing.key) => {
    const bearer = await new SignJWT({ iss: issuer, aud: audience, exp: now() + 300, sub: "shop", tenant: "acme", roles: ["customer"] })
      .setProtectedHeader({ alg: "ES256", kid }).sign(key)
    return lonely.send("GET", "/visibility/v1/events", { headers: { authorization: `Bearer ${bearer}` } })
  }

  it("causes 503, because the token may be valid, and recovers by itself", async () => {
    await lonely.tenant("acme")
    const answer = await ask()
    expect([answer.status, problemCode(answer), answer.headers.get("retry-after")]).toEqual([503, "authentication_unavailable", "1"])
    expect(String(lonely.log.find(({ level }) => level === "ERROR")?.message)).toMatch(/^JWKS fetch failed\./)
    failing.state.failing = false
    expect((await ask()).status).toBe(200)
  })

  const minutesLater = (minutes: number) => void vi.advanceTimersByTime(minutes * 60_000)

  const setClockBack = (hours: number) => vi.setSystemTime(Date.now() - hours * 3_600_000)

  const messages = () => lonely.log.map(({ message }) => String(message)).filter((message) => message.startsWith("JWKS"))

  describe("whose keys are known", () => {
    beforeEach(async () => {
      await lonely.tenant("acme")
      failing.state.failing = false
      vi.useFakeTimers({ toFake: ["Date", "performance"] })
      onTestFinished(() => void vi.useRealTimers())
      expect((await ask()).status).toBe(200)
      failing.state.failing = true
    })

    it("leaves their tokens valid for an hour after the last fetch, and says so once", async () => {
      for (let waited = 0; waited < 55; waited += 11) {
        minutesLater(11)
        expect((await ask()).status).toBe(200)
      }
      expect(messages()).toEqual([expect.stringMatching(/^JWKS fetch failed, trying again\. Known keys are valid until \S+Z\./)])
      minutesLater(6)
      expect((await ask()).status).toBe(503)
    })

    it("causes 503 for tokens of other keys, which it may have added", async () => {
      const added = await failing.add("k9")
      minutesLater(11)
      expect((await ask()).status).toBe(200)
      expect((await ask("k9", added)).status).toBe(503)
    })

    it("is asked again beside the calls, and then the keys are those that it has", async () => {
      minutesLater(11)
      expect((await ask()).status).toBe(200)
      failing.remove("k1")
      failing.state.failing = false
      minutesLater(1)
      await vi.waitFor(async () => expect((await ask()).status).toBe(401))
      expect(messages().at(-1)).toBe("JWKS fetched again.")
    })

    it("is asked again beside the calls when the clock was set back meanwhile", async () => {
      minutesLater(11)
      expect((await ask()).status).toBe(200)
      setClockBack(5)
      failing.remove("k1")
      failing.state.failing = false
      minutesLater(1)
      await vi.waitFor(async () => expect((await ask()).status).toBe(401))
    })
  })

  it("that works again is asked for new and withdrawn keys after the clock was set back", async () => {
    await lonely.tenant("acme")
    failing.state.failing = false
    vi.useFakeTimers({ toFake: ["Date", "performance"] })
    onTestFinished(() => void vi.useRealTimers())
    expect((await ask()).status).toBe(200)
    setClockBack(5)
    const added = await failing.add("k9")
    minutesLater(1)
    expect((await ask("k9", added)).status).toBe(200)
    failing.remove("k1")
    minutesLater(11)
    expect((await ask()).status).toBe(401)
  })

  it("does not affect keys", async () => {
    const tenant = await lonely.tenant("acme")
    expect((await lonely.send("GET", "/visibility/v1/events", { key: tenant.carrier })).status).toBe(200)
  })
})

describe("without a provider", () => {
  it("refuses tokens with 401", async () => {
    const plain = await runningService()
    await plain.tenant("acme")
    expect((await plain.send("GET", "/visibility/v1/events", { headers: { authorization: `Bearer ${await token()}` } })).status).toBe(401)
  })
})
