import { linesPerMinute, mostNames } from "@waybill/core"
import { Effect, Exit, Logger } from "effect"
import { TestClock } from "effect/testing"
import { describe, expect, it } from "vitest"
import { FailedCredentials, failuresPerMinute, maxRemembered, type CountedCredentials, countedCredentials } from "../../src/access/FailedCredentials.ts"
import { RefusalLog } from "../../src/access/RefusalLog.ts"
import { operatorKey, problemCode, runningService, type TestServiceOptions } from "../TestService.ts"

const start = async (options: TestServiceOptions = {}) => {
  const service = await runningService({ trustForwarded: true, ...options })
  const acme = await service.tenant("acme")
  const ask = (key: string, address: string, path = "/visibility/v1/events") =>
    service.send("GET", path, { key, headers: { "x-forwarded-for": address } })
  const fail = async (key: string, address: string, count = failuresPerMinute) => {
    for (let n = 0; n < count; n++) expect((await ask(key, address)).status).toBe(401)
  }
  return { service, acme, ask, fail }
}

/** The id of an existing key with another secret part. */
const guess = (key: string, n = 0) => `${key.slice(0, -6)}${String(n).padStart(6, "A")}`

describe("failed credentials", () => {
  it("are checked sixty times per minute and address, then answered 429 unchecked; other addresses are not affected", async () => {
    const { acme, ask, fail } = await start()
    await fail("wrong-key", "198.51.100.7")
    const answer = await ask("wrong-key", "198.51.100.7")
    expect([answer.status, problemCode(answer), answer.json.detail]).toEqual([429, "rate_exceeded", expect.stringContaining("failedCredentials")])
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThanOrEqual(1)
    expect(Number(answer.headers.get("retry-after"))).toBeLessThanOrEqual(60)
    expect((await ask(acme.carrier, "198.51.100.7")).status).toBe(429)
    expect((await ask(acme.carrier, "198.51.100.8")).status).toBe(200)
    expect((await ask("wrong-key", "198.51.100.8")).status).toBe(401)
  })

  it("are checked again after a minute, although the clock was set back", async () => {
    const { ask, fail, service } = await start({ over: TestClock.layer() })
    await service.run(TestClock.setTime(3 * 3_600_000))
    await fail("wrong-key", "198.51.100.7")
    expect((await ask("wrong-key", "198.51.100.7")).status).toBe(429)
    await service.run(TestClock.setTime(0))
    await service.run(TestClock.adjust("1 minute"))
    expect((await ask("wrong-key", "198.51.100.7")).status).toBe(401)
  })

  it("get errors in the format of the requested area, which name the quota", async () => {
    const { ask, fail } = await start()
    await fail("wrong-key", "198.51.100.7")
    const shapes = await Promise.all(["/in-transit/v1/shipment/pro/1/verified", "/invoicing/invoices", "/pickup/v1/pickups/", "/pfc/v1/subscriptions/x/inflight"]
      .map((path) => ask("wrong-key", "198.51.100.7", path)))
    expect(shapes.map(({ status }) => status)).toEqual([429, 429, 429, 429])
    expect(shapes[0]!.json.message).toContain("failedCredentials")
    expect([shapes[1]!.json, shapes[1]!.headers.get("x-waybill-detail")]).toEqual([["700"], expect.stringContaining("failedCredentials")])
    expect(shapes[2]!.json.message).toContain("failedCredentials")
    expect(shapes[3]!.json).toMatchObject({ code: "TOO_MANY_REQUESTS", details: { resource: "quota", value: "failedCredentials" } })
  })

  it("of a neighbour at the same address do not lock out callers with recently valid ones", async () => {
    const { acme, ask, fail } = await start()
    expect((await ask(acme.carrier, "198.51.100.7")).status).toBe(200)
    expect((await ask(operatorKey, "198.51.100.7", "/operator/v1/tenants")).status).toBe(200)
    await fail("wrong-key", "198.51.100.7")
    expect((await ask("wrong-key", "198.51.100.7")).status).toBe(429)
    expect((await ask(acme.carrier, "198.51.100.7")).status).toBe(200)
    expect((await ask(operatorKey, "198.51.100.7", "/operator/v1/tenants")).status).toBe(200)
  })

  it("for one key from many addresses are limited, and the valid key still works from an address without failures", async () => {
    const { acme, ask } = await start()
    for (let n = 0; n < failuresPerMinute; n++) expect((await ask(guess(acme.carrier, n), `198.51.${n}.1`)).status).toBe(401)
    expect((await ask(guess(acme.carrier), "198.51.0.1")).status).toBe(429)
    expect((await ask(guess(acme.carrier), "203.0.113.9")).status).toBe(401)
    expect((await ask(guess(acme.carrier), "203.0.113.9")).status).toBe(429)
    expect((await ask(acme.carrier, "203.0.113.10")).status).toBe(200)
    const other = await acme.customer("other", ["A1"])
    expect((await ask(guess(other), "198.51.0.1")).status).toBe(401)
  })

  it("are not counted when no credentials were sent, nor for an unknown address", async () => {
    const { ask, service } = await start()
    for (let n = 0; n <= failuresPerMinute; n++) {
      expect((await service.send("GET", "/visibility/v1/events", { headers: { "x-forwarded-for": "198.51.100.7" } })).status).toBe(401)
      expect((await ask("wrong-key", "unknown")).status).toBe(401)
    }
    expect((await ask("wrong-key", "198.51.100.7")).status).toBe(401)
  })

  const presented = (n: number): CountedCredentials => ({ address: `a${n}`, credential: () => `c${n}`, digest: `d${n}` })
  const admits = (failures: FailedCredentials, each: CountedCredentials, now: number) => Exit.isSuccess(Effect.runSyncExit(failures.admit(each, now)))

  it("are forgotten after their minute", () => {
    const failures = new FailedCredentials()
    for (let n = 0; n < failuresPerMinute; n++) failures.failed(presented(1), 1000)
    expect(admits(failures, presented(1), 60_999)).toBe(false)
    expect(admits(failures, presented(1), 61_000)).toBe(true)
  })

  it("are counted for a key that was valid before", () => {
    const failures = new FailedCredentials()
    failures.succeeded(presented(1))
    for (let n = 0; n < failuresPerMinute; n++) failures.failed(presented(1), 0)
    expect(admits(failures, presented(1), 0)).toBe(false)
  })

  it("from many addresses and for many keys use bounded memory", () => {
    const failures = new FailedCredentials()
    for (let n = 0; n < 3 * maxRemembered; n++) {
      failures.failed(presented(n), 0)
      failures.succeeded(presented(n))
    }
    expect(failures.size).toBe(3 * maxRemembered)
  })

  it("that are not keys are counted separately", async () => {
    const digests = await Promise.all(["Basic YTpi", "Basic Yzpk", "Digest x"].map((authorization) =>
      Effect.runPromise(Effect.map(countedCredentials(undefined, { authorization }), ({ digest }) => digest))))
    expect(new Set(digests).size).toBe(3)
  })
})

describe("the log of refusals", () => {
  it("has the address and the reason, and nothing of the credentials", async () => {
    const { acme, ask, service } = await start()
    const before = service.log.length
    await ask(guess(acme.carrier), "198.51.100.7")
    await ask(acme.carrier, "198.51.100.7", "/operator/v1/tenants")
    await service.send("GET", "/visibility/v1/events", { headers: { "x-forwarded-for": "2001:db8::7" } })
    const lines = service.log.slice(before).filter(({ level }) => level === "WARN")
    expect(lines.map(({ annotations: { address, client, route, status }, message }) => [message, address, status, route, client])).toEqual([
      ["Access refused: wrong API key.", "198.51.100.7", 401, "/visibility/v1/events", undefined],
      ["Access refused: role operator is needed.", "198.51.100.7", 403, "/operator/v1/tenants", "key:carrier"],
      ["Access refused: no credentials.", "2001:db8:0:0::/64", 401, "/visibility/v1/events", undefined]
    ])
    expect(JSON.stringify(service.log.slice(before))).not.toContain("wb.")
  })

  it("has a few lines per minute and address, and then a count", async () => {
    const { ask, service } = await start()
    const before = service.log.length
    for (let n = 0; n < 70; n++) await ask("wrong-key", "198.51.100.7")
    await ask("wrong-key", "198.51.100.8")
    const lines = service.log.slice(before).filter(({ level }) => level === "WARN" || level === "INFO")
    expect(lines.filter(({ annotations }) => annotations["address"] === "198.51.100.7")).toHaveLength(linesPerMinute)
    expect(lines.filter(({ annotations }) => annotations["address"] === "198.51.100.8")).toHaveLength(1)
  })

  it("reports the count of a past minute, and is bounded for any number of addresses", async () => {
    const log = new RefusalLog()
    const lines: Array<string> = []
    const logger = Logger.layer([Logger.map(Logger.formatStructured, ({ annotations, message }) => void lines.push(`${annotations["address"]} ${String(message)}`))])
    const refuse = (now: number, address: string) =>
      Effect.runSync(Effect.provide(log.log({ address, status: 401, reason: "wrong API key", fields: {} }, now), logger))
    for (let n = 0; n < 14; n++) refuse(0, "a")
    for (let n = 0; n < 2 * mostNames; n++) refuse(1, `a${n}`)
    expect(log.size).toBe(mostNames + 1)
    expect(lines).toHaveLength(linesPerMinute + mostNames - 1 + linesPerMinute)
    lines.length = 0
    refuse(60_001, "b")
    expect(lines).toEqual(["a Access refused 4 more times in one minute.", "(others) Access refused 991 more times in one minute.", "b Access refused: wrong API key."])
    expect(log.size).toBe(1)
  })
})
