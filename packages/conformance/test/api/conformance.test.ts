import { readFileSync } from "node:fs"
import { createServer, type RequestListener, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { describe, expect, it, onTestFinished } from "vitest"
import { areas, must, type Rule, rulesOf } from "../../src/api/Rule.ts"
import { parseFixtures } from "../../src/api/Fixtures.ts"
import { rules } from "../../src/api/Rules.ts"
import { runRules, type Target } from "../../src/api/RunRules.ts"
import { openCallback } from "../../src/api/Callback.ts"
import { seedThroughIntake } from "../../src/api/Seed.ts"
import { basesOf, startApi, targetOf } from "./ApiUnderTest.ts"
import { mutants } from "./Mutants.ts"
import { startMutatingProxy } from "./MutatingProxy.ts"
import { changing } from "./Mutations.ts"

const limits = { timeoutMillis: 500, totalMillis: 20_000, maxCalls: 500, maxAnswerBytes: 100_000 }

const listening = async (handler: RequestListener): Promise<Server> => {
  const server = createServer(handler)
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return server
}

const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`

/** A target without fixtures. */
const bareTarget = async (url: string) => {
  const callback = await openCallback({ host: "127.0.0.1", port: 0 })
  onTestFinished(() => callback.close())
  return { bases: basesOf(url), fixtures: {}, callback, isReachable: false, limits, waitMillis: 300, quietMillis: 50 }
}

/** Their time is moved on, which makes the signatures of other rules' deliveries invalid. */
const needsWindow = ({ needs }: Rule): boolean => needs.includes("hour") || needs.includes("day")

/** Runs rules against a server of their own. */
const checked = async (chosen: ReadonlyArray<Rule>, more: Partial<Target> = {}) => {
  const api = await startApi()
  onTestFinished(() => api.stop())
  const target = await targetOf(api, { onWindowWait: api.endWindow, ...more })
  onTestFinished(() => target.callback.close())
  return (await runRules(target, chosen)).results
}

const customer = { customer: { apiKey: "key", accounts: ["A-1"] } } as const

describe("the rules of check --api", { timeout: 120_000 }, () => {
  it("are all kept by this server, and none is left unchecked", async () => {
    const windowed = await checked(rules.filter(needsWindow), { windowMillis: { hourly: 30_000, daily: 30_000 } })
    const results = [...await checked(rules.filter((rule) => !needsWindow(rule))), ...windowed]
    expect(results).toHaveLength(rules.length)
    const unmet = results.filter(({ status }) => status !== "passed").map(({ answer, detail, id, request, status }) => `${id} ${status}: ${detail}\n${request ?? ""}\n${answer ?? ""}`)
    expect(unmet).toEqual([])
  })

  it("have ids of their own, sentences, sections, and each a mutant that breaks it", () => {
    expect(new Set(rules.map(({ id }) => id)).size).toBe(rules.length)
    for (const { area, id, sentence, source } of rules) expect([id, source.length > 3, /^[a-z].*[^.]$/u.test(sentence)]).toEqual([expect.stringMatching(new RegExp(`^${area}-[a-z-]+$`, "u")), true, true])
    expect(rules.map(({ id }) => id).filter((id) => !mutants.some(({ rule }) => rule === id))).toEqual([])
    expect(new Set(rules.map(({ area }) => area))).toEqual(new Set(areas))
  })

  it("are not checked without fixtures, and say what they need", async () => {
    const target = await bareTarget("http://127.0.0.1:1")
    const { results } = await runRules(target, rules)
    expect(results.filter(({ status }) => status === "passed")).toEqual([])
    const [pro, delivered] = ["a-pro-verified", "d-delivered"].map((id) => results.find((result) => result.id === id))
    expect(pro).toMatchObject({ status: "not checked", detail: expect.stringContaining("needs clients.customer in the fixtures") })
    expect(delivered?.detail).toMatch(/needs .*webhook in the fixtures.*--trigger.*--receiver-url/u)
  })

  it("about tokens, windows and their ends are not checked without a token and time to wait, and say so", async () => {
    const api = await startApi()
    onTestFinished(() => api.stop())
    const { fixtures: { tokens: _, ...fixtures }, ...target } = await targetOf(api)
    onTestFinished(() => target.callback.close())
    const waits: Array<string> = []
    const ids = ["a-token", "d-token-forged", "a-token-expired", "e-hourly-sent", "e-daily-sent", "e-hourly-waits"]
    const { results } = await runRules({ ...target, fixtures, onWindowWait: (frequency) => waits.push(frequency) }, rules.filter(({ id }) => ids.includes(id)))
    expect(Object.fromEntries(results.map(({ detail, id, status }) => [id, `${status}: ${detail}`]))).toEqual({
      "a-token": expect.stringMatching(/^not checked: needs tokens.customer in the fixtures/u),
      "d-token-forged": expect.stringMatching(/^not checked: needs tokens.customer in the fixtures/u),
      "a-token-expired": expect.stringMatching(/^not checked: needs tokens.expired in the fixtures/u),
      "e-hourly-sent": expect.stringMatching(/^not checked: needs --window-wait of 3600 seconds/u),
      "e-daily-sent": expect.stringMatching(/^not checked: needs --window-wait of 86400 seconds/u),
      "e-hourly-waits": "passed: nothing came at once"
    })
    expect(waits).toEqual([])
  })

  it("take a customer's bearer token for its token, and nothing that is no JWT for one", async () => {
    const asked: Array<string | undefined> = []
    const server = await listening(({ headers }, response) => {
      asked.push(headers.authorization)
      response.writeHead(headers.authorization === "Bearer opaque" ? 200 : 401, { "content-type": "application/json" }).end("[]")
    })
    const target = { ...await bareTarget(urlOf(server)), fixtures: { clients: { customer: { bearer: "opaque", accounts: ["A-1"] } } } as const }
    const { results } = await runRules(target, rules.filter(({ id }) => id === "b-token" || id === "b-token-forged"))
    expect(results.map(({ id, status }) => [id, status])).toEqual([["b-token", "passed"], ["b-token-forged", "passed"]])
    expect(asked).toEqual(["Bearer opaque", "Bearer opaque", "Bearer Apaque"])
  })

  it("are seeded by a carrier with a bearer token as well", async () => {
    const asked: Array<string | undefined> = []
    const server = await listening(({ headers }, response) => {
      asked.push(headers.authorization)
      response.writeHead(401).end()
    })
    const clients = { carrier: { bearer: "opaque" }, customer: { apiKey: "key", accounts: ["A-1", "A-2"] }, other: { apiKey: "other", accounts: ["B-1"] } } as const
    await expect(seedThroughIntake(urlOf(server), { clients }, "t1")).rejects.toMatchObject({ status: 401 })
    expect(asked).toEqual(["Bearer opaque"])
  })

  it("take an invoice with members of a later version", async () => {
    const api = await startApi()
    onTestFinished(() => api.stop())
    const proxy = await startMutatingProxy()
    onTestFinished(() => proxy.close())
    const { bind, url } = proxy.add({ serviceUrl: api.url, mutation: changing("GET", /./u, (json: unknown) => withLaterMembers(json)) })
    const target = await targetOf(api, { bases: basesOf(url) })
    onTestFinished(() => target.callback.close())
    bind({ fixtures: target.fixtures, receiverPort: target.callback.port })
    const { results } = await runRules(target, rules.filter(({ id }) => id === "b-get" || id === "b-get-charges"))
    expect(results.map(({ id, status }) => [id, status])).toEqual([["b-get", "passed"], ["b-get-charges", "passed"]])
  })

  it("report a server that does not answer", async () => {
    const target = await bareTarget("http://127.0.0.1:1")
    expect((await runRules(target, rules)).unreachable).toContain("no answer")
  })
})

const withLaterMembers = (json: unknown): unknown => {
  if (Array.isArray(json)) return json.map(withLaterMembers)
  if (typeof json !== "object" || json === null) return json
  return { later: [{}], ...Object.fromEntries(Object.entries(json).map(([name, each]) => [name, withLaterMembers(each)])) }
}

describe("what a check creates", { timeout: 60_000 }, () => {
  const creating = rules.filter(({ id }) => ["d-create", "d-create-filters", "d-patch", "d-list", "d-get"].includes(id))

  it.each(["its calls are used up", "it is interrupted"])("is removed when %s", async (reason) => {
    const api = await startApi()
    onTestFinished(() => api.stop())
    const target = await targetOf(api)
    onTestFinished(() => target.callback.close())
    const stopped = new AbortController()
    const { results } = await (reason === "it is interrupted"
      ? runRules(target, creating, { onResult: () => stopped.abort(), signal: stopped.signal })
      : runRules({ ...target, limits: { ...target.limits, maxCalls: 3 } }, creating))
    expect(results.filter(({ status }) => status === "passed").length).toBeLessThan(creating.length)
    const { apiKey } = target.fixtures.clients!.customer as { readonly apiKey: string }
    const left = await fetch(`${target.bases.d}/v1/subscriptions`, { headers: { "x-api-key": apiKey } })
    expect(await left.json()).toMatchObject({ data: [], totalCount: 0 })
  })
})

describe("a hostile server", { timeout: 60_000 }, () => {
  const check = async (handler: Parameters<typeof listening>[0], ids: ReadonlyArray<string>, more: object = {}) => {
    const target = { ...await bareTarget(urlOf(await listening(handler))), fixtures: { clients: customer }, ...more }
    return (await runRules(target, rules.filter(({ id }) => ids.includes(id)))).results
  }

  it("cannot fill the memory with an endless answer", async () => {
    const chunk = Buffer.alloc(16_384, "[")
    const results = await check((_, response) => {
      const more = (): void => {
        while (response.write(chunk)) { /* until the socket is full */ }
        response.once("drain", more)
      }
      response.writeHead(200, { "content-type": "application/json" })
      more()
    }, ["d-events-unknown-shipment"])
    expect(results).toEqual([expect.objectContaining({ status: "failed", detail: expect.stringContaining("more than 100000 bytes") })])
  })

  it("cannot hold the check with an answer that never ends, or never begins", async () => {
    const drops = await check((_, response) => {
      response.writeHead(200, { "content-type": "application/json" })
      const timer = setInterval(() => response.write(" "), 20)
      response.once("close", () => clearInterval(timer))
    }, ["d-events-unknown-shipment"])
    expect(drops[0]?.detail).toContain("no complete answer within 0.5 s")
    expect((await check(() => {}, ["d-events-unknown-shipment"]))[0]?.detail).toContain("no complete answer within 0.5 s")
  })

  it("cannot send the check elsewhere, nor keep it waiting by Retry-After", async () => {
    const elsewhere: Array<string> = []
    const other = await listening(({ url }, response) => {
      elsewhere.push(url!)
      response.end()
    })
    const redirected = await check((_, response) => void response.writeHead(307, { location: urlOf(other) }).end(), ["d-events-unknown-shipment"])
    expect(redirected[0]?.detail).toContain("answered 307")
    expect(elsewhere).toEqual([])
    // a day, if it waited
    const limited = await check((_, response) => void response.writeHead(429, { "retry-after": "86400" }).end(), ["d-events-unknown-shipment"])
    expect(limited[0]?.detail).toContain("answered 429")
  })

  it("is called no more often than allowed, and what is left is not checked", async () => {
    let calls = 0
    const results = await check((_, response) => {
      calls += 1
      response.writeHead(404).end()
    }, rules.map(({ id }) => id), { limits: { ...limits, maxCalls: 5 } })
    expect(calls).toBeLessThanOrEqual(5)
    expect(results.some(({ detail, status }) => status === "not checked" && detail.includes("limit of 5 calls"))).toBe(true)
  })

  it("survives deep, broken and strange JSON", async () => {
    const bodies = ["[".repeat(50_000), `${"[".repeat(40_000)}${"]".repeat(40_000)}`, "null", "7", "\"text\"", "{\"data\": {\"__proto__\": 1}}", "{\"data\":[null]}"]
    for (const body of bodies) {
      const results = await check((_, response) => void response.writeHead(200, { "content-type": "application/json" }).end(body), ["d-events-unknown-shipment", "e-unknown", "a-subscribe", "d-error-body"])
      expect(results.filter(({ status }) => status === "passed")).toEqual([])
    }
  })
})

describe("the report of a failed rule", () => {
  it("has the call and the answer without any secret", async () => {
    const server = await listening((request, response) => void response.writeHead(200, { "content-type": "application/json", "x-echo": String(request.headers["x-api-key"]) }).end(JSON.stringify({ key: request.headers["x-api-key"] })))
    const target = { ...await bareTarget(urlOf(server)), fixtures: { clients: { customer: { apiKey: "very-secret-key", accounts: ["A-1"] } } } as const }
    const [asks] = rulesOf("d", "Area D", ["customer"], [must("asks", "is asked", (context) => rules.find(({ id }) => id === "d-unknown-subscription")!.run(context))])
    const { results: [result] } = await runRules(target, [asks!])
    expect(result).toMatchObject({ status: "failed", level: "must", source: "Area D", request: expect.stringMatching(/^GET http:.*\(called as customer\)$/su), answer: expect.stringContaining("[redacted]") })
    expect(JSON.stringify(result)).not.toContain("very-secret-key")
  })
})

it("reads the fixtures of docs/conformance.md", () => {
  const page = readFileSync(new URL("../../../../docs/conformance.md", import.meta.url), "utf8")
  const [, json = ""] = /```json\n([^]*?)```/u.exec(page) ?? []
  const named = Object.fromEntries(Array.from(json.matchAll(/env:(\w+)/gu), ([, name]) => [name!, `value of ${name}`]))
  expect(parseFixtures(json, named)).toMatchObject({ clients: { customer: { apiKey: "value of CUSTOMER_KEY" } }, bills: { emptyAccount: "A-101" } })
})
