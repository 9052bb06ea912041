/** Looks for secrets in the log and responses of a server under invalid calls and faults. */
import { execFile } from "node:child_process"
import { randomBytes } from "node:crypto"
import { promisify } from "node:util"
import { describe, expect, inject, it } from "vitest"
import { leaked, receiver, sharedSettings, startProgram } from "./Program.ts"
import { event, tenantOn } from "./Tenant.ts"

const pgUrl = inject("pgUrl")

const newSecret = () => `whsec_${randomBytes(32).toString("base64")}`

interface Ask {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

const textOf = async (baseUrl: string, { body, headers = {}, method = "GET", path }: Ask): Promise<string> => {
  const sent = body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }
  const response = await fetch(`${baseUrl}${path}`, { method, headers: { "content-type": "application/json", ...headers }, ...sent })
  return `${response.status} ${JSON.stringify([...response.headers])} ${await response.text()}`
}

/** Calls with a secret in the right place, in wrong places, and damaged. */
const clumsyCalls = (key: string, secret: string, more: Ask["headers"] = {}): ReadonlyArray<Ask> => [
  { path: `/visibility/v1/events?x-api-key=${encodeURIComponent(key)}`, headers: more },
  { path: `/visibility/v1/events?page=${encodeURIComponent(key)}&order=${encodeURIComponent(secret)}`, headers: { "x-api-key": key } },
  { path: "/visibility/v1/events", headers: { "x-api-key": `${key}x` } },
  { path: "/visibility/v1/events", headers: { authorization: `Basic ${Buffer.from(`key:${key}`).toString("base64")}` } },
  { path: "/visibility/v1/events", headers: { authorization: `Bearer ${key}`, "x-api-key": "wb.x" } },
  { path: "/operator/v1/tenants/acme/deliveries", headers: { authorization: `Bearer ${key}`, "x-request-id": key } },
  { method: "POST", path: "/visibility/v1/subscriptions", headers: { "x-api-key": key }, body: `{"hmacSecretId":"main","secret":"${secret}"` },
  { method: "POST", path: "/pfc/v1/subscriptions", headers: { "x-api-key": key }, body: { webhookUrl: "http://10.0.0.1/", [secret]: secret } },
  { method: "POST", path: "/intake/v1/transit-events", headers: { "x-api-key": key, "content-type": `text/${secret.slice(6, 20).replaceAll(/\W/g, "")}` }, body: key },
  { method: "PUT", path: "/operator/v1/tenants/acme/secrets/main", headers: { "x-api-key": key }, body: { secret } }
]

describe("a noisy server", { timeout: 120_000 }, () => {
  it("logs and answers no secret for any failure", async () => {
    const { env, operatorKey, sealingKey } = sharedSettings(pgUrl, { WAYBILL_LOG_LEVEL: "debug" })
    const { program, url } = await startProgram({ env })
    const tenant = await tenantOn(url, operatorKey)
    const given = newSecret()
    await textOf(url, { method: "PUT", path: "/operator/v1/tenants/acme/secrets/given", headers: { "x-api-key": operatorKey }, body: { secret: given, anyClient: true } })
    const secrets = [operatorKey, sealingKey, tenant.carrierKey, tenant.customerKey, tenant.secret, given, decodeURIComponent(new URL(pgUrl).password)].filter((each) => each.length > 7)

    // Receivers with every behaviour except accepting.
    const hook = await receiver(({ path }, response) => {
      if (path === "/broken") response.destroy()
      else if (path === "/moved") response.writeHead(302, { location: "http://127.0.0.1/" }).end()
      else response.writeHead(path === "/gone" ? 410 : 503).end("no")
    })
    for (const path of ["/broken", "/moved", "/gone", "/busy"]) {
      await tenant.customerAt(url).createSubscription({ endpointUrl: `${hook.url}${path}`, hmacSecretId: "given" })
    }
    await tenant.intakeAt(url).publishTransitEvents([event("S-1", 1)])
    await textOf(url, { path: "/readyz" })

    const answers: Array<string> = []
    for (const key of [tenant.carrierKey, tenant.customerKey, operatorKey]) {
      for (const ask of clumsyCalls(key, given)) {
        const text = await textOf(url, ask)
        // The response contains the secret that signs from now on.
        answers.push(ask.method === "PUT" && key === operatorKey ? text.replaceAll(given, "…") : text)
      }
    }
    expect(leaked(answers.join("\n"), secrets)).toEqual([])
    expect(await program.kill("SIGTERM")).toEqual({ code: 0, signal: null })

    // Secrets that another key encrypted cannot be decrypted or sign.
    const { program: other, url: otherUrl } = await startProgram({ env: { ...env, WAYBILL_SEALING_KEY: randomBytes(32).toString("base64") } })
    const unreadable = await textOf(otherUrl, { method: "PUT", path: "/operator/v1/tenants/acme/secrets/given", headers: { "x-api-key": operatorKey }, body: { overlapSeconds: 60 } })
    await tenant.intakeAt(otherUrl).publishTransitEvents([event("S-1", 2)])
    await textOf(otherUrl, { path: "/visibility/v1/events", headers: { "x-api-key": tenant.customerKey } })
    expect(await other.kill("SIGTERM")).toEqual({ code: 0, signal: null })

    expect(leaked(program.output + other.output + unreadable, secrets)).toEqual([])
    // The log has enough entries.
    expect(program.log.length).toBeGreaterThan(40)
    expect(program.log.some(({ level }) => level === "debug")).toBe(true)
  })
})

describe("a program that logs a secret", () => {
  it("would be detected", async () => {
    const secret = newSecret()
    const known = randomBytes(24).toString("hex")
    globalThis.waybillTestOutput?.secret(known)
    const { stdout } = await promisify(execFile)(process.execPath, ["-e", "console.log(...process.argv.slice(1)) // the canary of npm run secrets", secret, known])
    expect(leaked(stdout, [secret, known])).toEqual([secret, known])
  })
})
