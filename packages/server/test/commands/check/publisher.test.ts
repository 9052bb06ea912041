import { readFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it, onTestFinished } from "vitest"
import { openCallback } from "../../../src/commands/check/Callback.ts"
import { Publisher, type PublisherOptions } from "../../../src/commands/check/Publisher.ts"
import { runCheck, publisherRequirements } from "../../../src/commands/check/PublisherRequirements.ts"
import { directory, listening, urlOf } from "../../program/Program.ts"
import { event } from "../../program/Tenant.ts"
import { account, jsonLines, newSecret, run, runningServer } from "../Cli.ts"
import { apiKey, type Flaw, flaws, smallPublisher } from "./SmallPublisher.ts"

const secretId = "main"

const publisherAt = async (options: Pick<PublisherOptions, "baseUrl" | "apiKey" | "secrets"> & Partial<PublisherOptions>) => {
  const callback = await openCallback({ host: "127.0.0.1", port: 0 })
  onTestFinished(() => callback.close())
  return new Publisher({ callback, hmacSecretId: secretId, timeoutMillis: 5_000, waitMillis: 10_000, quietMillis: 300, ...options })
}

const idOf = ({ id }: { readonly id: string }) => id

/** The unmet requirements with their observations. */
const unmetOf = async (publisher: Publisher, ids: ReadonlyArray<string> = publisherRequirements.map(idOf)) => {
  const unmet: Array<string> = []
  for (const requirement of publisherRequirements) {
    if (!ids.includes(requirement.id)) continue
    const { detail, met } = await runCheck(publisher, requirement)
    if (!met) unmet.push(`${requirement.id}: ${detail}`)
  }
  return unmet
}

/** Requirements that need events from before. */
const needsHistory = (id: string) => id.startsWith("events-")

describe("check --publisher", { timeout: 120_000 }, () => {
  it("finds no flaw in this server, and leaves no subscription there", async () => {
    const server = await runningServer()
    let moves = 0
    const trigger = async () => {
      moves += 1
      const events = ["PICKED_UP", "IN_TRANSIT", "DELIVERED"] as const
      await server.intake.publishTransitEvents(events.flatMap((type, index) =>
        [`B-${moves}`, `A-${moves}`].map((shipmentId) => ({ ...event(shipmentId, index + 1), type, parties: { accounts: [account] } }))))
    }
    const publisher = await publisherAt({ baseUrl: `${server.url}/visibility`, apiKey: server.customerKey, secrets: [server.secret], quietMillis: 1_000, trigger })
    expect(await unmetOf(publisher)).toEqual([])
    expect((await server.customer.listSubscriptions()).data).toEqual([])
  })

  it("finds no flaw in another conforming publisher", async () => {
    const secret = newSecret()
    const { move, url } = await smallPublisher(secret)
    const publisher = await publisherAt({ baseUrl: url, apiKey, secrets: [newSecret(), secret], trigger: async () => move() })
    expect(await unmetOf(publisher)).toEqual([])
  })

  it("has a flawed publisher for each requirement", () => {
    expect([...flaws].toSorted()).toEqual(publisherRequirements.map(idOf).toSorted())
  })

  const found: Readonly<Record<Flaw, string>> = {
    "create": "answered 200",
    "get": "createdAt was",
    "list": "ids in order, each once",
    "patch": "shipmentIds",
    "delete": "404 is expected",
    "unknown-subscription": "DELETE /v1/subscriptions/",
    "invalid": "answered 201",
    "unauthenticated": "GET /v1/events answered 200",
    "problem-bodies": "application/problem+json is expected",
    "delivered": "No delivery came within 0.7 s",
    "body": "sequence",
    "signed": "No signature matches",
    "retry-after-error": "answered 500 was not repeated",
    "retry-after-drop": "cut off was not repeated",
    "stable-id": "The deliveryId was",
    "signed-again": "No signature matches",
    "in-order": "was delivered after #",
    "batch-size": "has 6 events, where batchMaxSize is 1",
    "filtered": "although the filter is PICKED_UP",
    "listed": "and is listed as",
    "paused": "although its subscription was paused",
    "deleted": "although its subscription was removed",
    "events": "page 1 of 50",
    "events-order": "the order is shipmentId, sequence, eventId",
    "events-pages": "each once",
    "events-filters": "which does not match the filter",
    "events-bounds": "page=0 answered 200"
  }

  /** Flaws that show by missing deliveries. */
  const isSilent = (flaw: Flaw) => flaw === "delivered" || flaw.startsWith("retry-")

  it.each(flaws)("detects a publisher with the flaw %s", async (flaw) => {
    const secret = newSecret()
    const { move, url } = await smallPublisher(secret, flaw)
    if (needsHistory(flaw)) move()
    const publisher = await publisherAt({ baseUrl: url, apiKey, secrets: [secret], waitMillis: isSilent(flaw) ? 700 : 10_000, trigger: async () => move() })
    const unmet = await unmetOf(publisher, [flaw])
    expect(unmet).toHaveLength(1)
    expect(unmet[0]).toContain(found[flaw])
  })

  it("reads unexpected bodies without a crash", async () => {
    const secret = newSecret()
    const { move, url } = await smallPublisher(secret, "body")
    const publisher = await publisherAt({ baseUrl: url, apiKey, secrets: [secret], trigger: async () => move() })
    const ids = ["body", "stable-id", "in-order", "filtered", "listed", "paused"]
    const unmet = await unmetOf(publisher, ids)
    expect(unmet.map((each) => each.split(":")[0])).toEqual(ids)
    for (const each of unmet) expect(each).toContain("The body of a delivery is not as area D defines it")
  })

  it("sends a key, a token as bearer, or no credentials when these must be refused", async () => {
    const seen: Array<readonly [unknown, unknown]> = []
    const server = await listening(({ headers }, response) => {
      seen.push([headers["x-api-key"], headers.authorization])
      response.writeHead(401).end()
    })
    const token = "eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJtZSJ9.c2lnbmVk"
    for (const key of [apiKey, token]) {
      const publisher = await publisherAt({ baseUrl: `${urlOf(server)}/`, apiKey: key, secrets: [newSecret()] })
      await publisher.call("GET", "/v1/events")
      await publisher.call("GET", "/v1/events", { anonymous: true })
    }
    expect(seen).toEqual([[apiKey, undefined], [undefined, undefined], [undefined, `Bearer ${token}`], [undefined, undefined]])
  })

  it("reports once that nothing is delivered, instead of waiting each time", async () => {
    const secret = newSecret()
    const { move, url } = await smallPublisher(secret, "delivered")
    const publisher = await publisherAt({ baseUrl: url, apiKey, secrets: [secret], waitMillis: 300, trigger: async () => move() })
    const unmet = await unmetOf(publisher, ["delivered", "signed", "paused"])
    expect(unmet).toEqual([
      expect.stringContaining("Did the --trigger publish events that this key may see, and can the publisher reach http://127.0.0.1:"),
      "signed: Nothing was ever delivered, so this could not be checked.",
      "paused: Nothing was ever delivered, so this could not be checked."
    ])
  })
})

describe("check --publisher, as a command", { timeout: 90_000 }, () => {
  const node = (script: string) => `"${process.execPath}" -e "${script}"`

  it("reports each requirement as text, as JSON and as JUnit XML", async () => {
    const secret = newSecret()
    const { url } = await smallPublisher(secret, "stable-id")
    const junit = join(directory(), "check.xml")
    const only = ["create", "signed", "stable-id"].flatMap((id) => ["--only", id])
    const env = { WAYBILL_API_KEY: apiKey, WAYBILL_WEBHOOK_SECRET: secret }
    const args = ["check", "--publisher", url, "--secret-id", secretId, "--trigger", node(`fetch('${url}/move')`), ...only]
    const checked = await run([...args, "--junit", junit], { env })
    expect(checked.stdout).toContain("✓ creates a subscription: 201 with its Location\n    sub-000001, at /v1/subscriptions/sub-000001")
    expect(checked.stdout).toContain("✗ keeps deliveryId, webhook-id and events of a delivery that it repeats")
    expect(checked.stderr).toContain("1 requirement of 3 not met: stable-id.")
    expect(checked.code).toBe(1)
    const xml = readFileSync(junit, "utf8")
    expect(xml).toContain(`tests="3" failures="1"`)
    expect(xml).toContain(`classname="waybill.check.stable-id"`)
    const json = await run([...args, "--json"], { env })
    expect(jsonLines(json.stdout)).toEqual([{ url, passed: false, requirements: [expect.objectContaining({ id: "create", met: true }), expect.objectContaining({ met: true }), expect.objectContaining({ met: false })] }])
    expect(checked.stdout + checked.stderr + json.stdout).not.toContain(secret)
  })

  it("reports missing settings, failures, and an unreachable publisher", async () => {
    const secret = newSecret()
    const { url } = await smallPublisher(secret)
    const env = { WAYBILL_API_KEY: apiKey, WAYBILL_WEBHOOK_SECRET: secret }
    const check = (args: ReadonlyArray<string>, more: Readonly<Record<string, string>> = env) => run(["check", "--publisher", url, ...args], { env: more })
    expect(await check([])).toMatchObject({ code: 2, stderr: expect.stringContaining("--secret-id") })
    expect(await check(["--secret-id", secretId], { WAYBILL_WEBHOOK_SECRET: secret })).toMatchObject({ code: 2, stderr: expect.stringContaining("WAYBILL_API_KEY") })
    expect(await check(["--secret-id", secretId, "--only", "rotation"])).toMatchObject({ code: 2, stderr: expect.stringContaining("rotation: unknown requirement") })
    expect(await check(["--secret-id", secretId, "--kind", "freight-charges"])).toMatchObject({ code: 2, stderr: expect.stringContaining("--kind is for receivers") })
    expect(await run(["check", url, "--secret-id", secretId, "--wait", "3"], { env })).toMatchObject({ code: 2, stderr: expect.stringContaining("--secret-id, --wait: only with --publisher") })
    const broken = await check(["--secret-id", secretId, "--only", "delivered", "--trigger", node("console.error('no trucks'); process.exit(3)")])
    expect(broken).toMatchObject({ code: 1, stdout: expect.stringContaining("The --trigger ended with 3: no trucks") })
    const port = new URL(urlOf(await listening(() => {}))).port
    expect(await check(["--secret-id", secretId, "--port", port])).toMatchObject({ code: 1, stderr: expect.stringContaining("EADDRINUSE") })
    const gone = await run(["check", "--publisher", "http://127.0.0.1:1", "--secret-id", secretId], { env })
    expect(gone).toMatchObject({ code: 3, stderr: expect.stringContaining("No response from http://127.0.0.1:1") })
  })
})
