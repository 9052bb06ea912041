import { DeliveryReceiver, SeenInMemory, signDelivery } from "@waybill/client"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { directory, eventually, listening, receiver, urlOf } from "../program/Program.ts"
import { event } from "../program/Tenant.ts"
import { jsonLines, newSecret, run, runningServer, runProcess, start } from "./Cli.ts"

const batch = (deliveryId: string, ...sequences: ReadonlyArray<number>) =>
  new TextEncoder().encode(JSON.stringify({
    deliveryId,
    sentAt: "2026-11-20T08:15:00Z",
    events: sequences.map((sequence) => ({ ...event("S-1", sequence), sequence }))
  }))

/** A request as in the log of a proxy. */
const requestText = async (secret: string, body: Uint8Array, at = new Date()) => {
  const { headers } = await signDelivery({ secrets: secret, deliveryId: "d-1", body, now: at })
  const lines = ["POST /hook HTTP/1.1", "Host: shipper.example", ...Object.entries(headers).map(([name, value]) => `${name.replace("w", "W")}: ${value}`)]
  return `${lines.join("\r\n")}\r\n\r\n${new TextDecoder().decode(body)}`
}

describe("verify", { timeout: 60_000 }, () => {
  it("accepts a valid signature, of a request in a file or on standard input", async () => {
    const secret = newSecret()
    const text = await requestText(secret, batch("d-1", 1, 2))
    const file = join(directory(), "request.http")
    writeFileSync(file, text)
    const env = { WAYBILL_WEBHOOK_SECRET: secret }
    const good = await run(["verify", file], { env })
    expect(good).toMatchObject({ code: 0, stderr: "" })
    for (const part of ["The signature is valid.", "d-1", "2 events"]) expect(good.stdout).toContain(part)
    const piped = await runProcess(["verify", "--json"], { env: { WAYBILL_WEBHOOK_SECRET: `${newSecret()},${secret}` }, input: text })
    expect(jsonLines(piped.stdout)).toEqual([{ valid: true, deliveryId: "d-1", signedAt: expect.any(String), secret: 2, contents: "2 events" }])
  })

  it("names what a signed body is", async () => {
    const secret = newSecret()
    const env = { WAYBILL_WEBHOOK_SECRET: secret }
    const bodies = [
      [{ proNumber: "123", shipmentReferenceNumbers: {}, shipmentMilestoneStatus: "Delivered" }, "the status of PRO 123"],
      [{ deliveryId: "d-1", sentAt: "2026-11-20T08:15:00Z", pickups: [{ at: "2026-11-20T08:15:00Z", change: "ordered", pickupId: "p-1", request: {} }] }, "1 entry of the work list of pickups"],
      [{ type: "webhook.test", subscriptionId: "s-1" }, "a test event"],
      [{ type: "something.else" }, null]
    ] as const
    for (const [body, contents] of bodies) {
      const { stdout } = await runProcess(["verify", "--json"], { env, input: await requestText(secret, new TextEncoder().encode(JSON.stringify(body))) })
      expect(jsonLines(stdout)).toEqual([expect.objectContaining({ valid: true, contents })])
    }
  })

  it("explains an invalid signature, and never shows the secret", async () => {
    const secret = newSecret()
    const old = new Date(Date.now() - 3_600_000)
    const text = await requestText(secret, batch("d-1", 1), old)
    const env = { WAYBILL_WEBHOOK_SECRET: secret }
    const late = await runProcess(["verify"], { env, input: text })
    expect(late.code).toBe(1)
    expect(late.stdout).toContain("The signature is invalid: The delivery was signed 36")
    expect(late.stderr).toBe("waybill: timestamp_too_old.\n")
    expect((await runProcess(["verify", "--any-age"], { env, input: text })).code).toBe(0)
    expect((await runProcess(["verify", "--at", "1h"], { env, input: text })).code).toBe(0)
    const other = await runProcess(["verify", "--any-age", "--json"], { env: { WAYBILL_WEBHOOK_SECRET: newSecret() }, input: text })
    expect(other.code).toBe(1)
    expect(jsonLines(other.stdout)).toEqual([expect.objectContaining({ valid: false, reason: "signature_mismatch" })])
    const edited = await runProcess(["verify", "--any-age"], { env, input: `${text}\n` })
    expect(edited.code).toBe(1)
    expect(edited.stdout).toContain("ends with a line break that was not signed")
    for (const { stderr, stdout } of [late, other, edited]) expect(stdout + stderr).not.toContain(secret)
  })

  it("accepts the parts one by one, and the older signature", async () => {
    const secret = newSecret()
    const body = batch("d-1", 1)
    const dir = directory()
    writeFileSync(join(dir, "body.json"), body)
    writeFileSync(join(dir, "secret"), secret)
    const headers = Object.entries((await signDelivery({ secrets: secret, deliveryId: "d-1", body })).headers).flatMap(([name, value]) => ["--header", `${name}: ${value}`])
    expect((await run(["verify", join(dir, "body.json"), ...headers, "--secret-file", join(dir, "secret")])).code).toBe(0)
    const { headers: { "x-signature": signature } } = await signDelivery({ secrets: secret, body, signature: "x-signature" })
    const older = await run(["verify", join(dir, "body.json"), "--x-signature", "--header", `X-Signature: ${signature}`, "--secret", secret])
    expect(older.code).toBe(0)
    expect((await run(["verify", join(dir, "body.json")])).code).toBe(2)
    expect((await run(["verify", join(dir, "not-there"), "--secret", secret])).code).toBe(2)
  })
})

describe("listen", { timeout: 60_000 }, () => {
  const listeningAt = (program: ReturnType<typeof start>) =>
    eventually(() => /Listening on (http:\/\/[^ ]+)\./.exec(program.stderr)?.[1], { what: () => program.output })

  it("receives deliveries of a real server and prints their content", async () => {
    const server = await runningServer()
    const program = start(["listen"], { WAYBILL_WEBHOOK_SECRET: server.secret })
    const url = await listeningAt(program)
    await server.customer.createSubscription({ endpointUrl: `${url}/hook`, hmacSecretId: "main" })
    await server.intake.publishTransitEvents([event("S-1", 1)])
    await eventually(() => program.stdout.includes("S-1 #1 IN_TRANSIT") ? true : undefined, { what: () => program.output })
    expect(program.stdout).toMatch(/^✓ signed events \S+, answered 200\n/)
    expect(await program.kill("SIGINT")).toEqual({ code: 0, signal: null })
    expect(program.output).not.toContain(server.secret)
  })

  it("reports duplicates, gaps and forgeries", async () => {
    const secret = newSecret()
    const program = start(["listen", "--json"], { WAYBILL_WEBHOOK_SECRET: secret })
    const url = await listeningAt(program)
    const post = async (body: Uint8Array, deliveryId: string, by = secret) =>
      (await fetch(url, { method: "POST", headers: (await signDelivery({ secrets: by, deliveryId, body })).headers, body: body as Uint8Array<ArrayBuffer> })).status
    expect(await post(batch("d-1", 1), "d-1")).toBe(200)
    expect(await post(batch("d-1", 1), "d-1")).toBe(200)
    expect(await post(batch("d-2", 4), "d-2")).toBe(200)
    expect(await post(batch("d-3", 5), "d-3", newSecret())).toBe(401)
    const printed = await eventually(() => {
      const lines = jsonLines(program.stdout)
      return lines.length === 4 ? lines : undefined
    })
    expect(printed.map(({ status, verdict }) => [verdict, status])).toEqual([["taken", 200], ["duplicate", 200], ["taken", 200], ["refused", 401]])
    expect(printed[2].remarks).toEqual(["S-1 lacks #2 to #3"])
    expect(printed[3].remarks[0]).toContain("No signature matches.")
    expect(await post(new TextEncoder().encode(JSON.stringify({ type: "webhook.test", subscriptionId: "s-1", message: "A test." })), "d-4")).toBe(200)
    await eventually(() => jsonLines(program.stdout)[4]?.kind === "test" ? true : undefined, { what: () => program.output })
    await program.kill("SIGTERM")
  })

  it("refuses a body over 32 MiB by its size", async () => {
    const program = start(["listen", "--unsigned", "--json"])
    const url = await listeningAt(program)
    await fetch(url, { method: "POST", headers: { "webhook-id": "d-1" }, body: new Uint8Array(32 * 1024 * 1024 + 10_000) })
    const [{ remarks }] = await eventually(() => jsonLines(program.stdout).length === 1 ? jsonLines(program.stdout) : undefined, { what: () => program.output })
    expect(remarks[0]).toContain("The body is larger than the 33554432 bytes")
    await program.kill("SIGTERM")
  })

  it("answers with the given status, and accepts unsigned deliveries only with --unsigned", async () => {
    const program = start(["listen", "--unsigned", "--answer", "503"])
    const url = await listeningAt(program)
    const body = JSON.stringify({ proNumber: "123456789", shipmentReferenceNumbers: {}, shipmentMilestoneStatus: "Delivered", TimeZoneOfShipment: null, UpdatedETA: "2026-11-20", notificationMessage: "Done\u001b[31m" })
    for (let attempt = 1; attempt <= 2; attempt++) expect((await fetch(url, { method: "POST", headers: { "webhook-id": "d-1" }, body })).status).toBe(503)
    // Not accepted, so it is no duplicate either.
    await eventually(() => program.stdout.match(/✓ unsigned status d-1, answered 503/g)?.length === 2 ? true : undefined, { what: () => program.output })
    expect(program.stdout).not.toContain("\u001b")
    await program.kill("SIGTERM")
    expect((await run(["listen"])).code).toBe(2)
    expect((await run(["listen", "--unsigned", "--answer", "99"])).code).toBe(2)
    for (const port of ["99999", "-1"]) {
      expect(await run(["listen", "--unsigned", "--port", port])).toEqual({ code: 2, stdout: "", stderr: "waybill: --port is a number from 0 to 65535.\n" })
    }
  })

  it("reports a port in use", async () => {
    const taken = await receiver()
    const ended = await run(["listen", "--unsigned", "--port", new URL(taken.url).port])
    expect(ended.code).toBe(1)
    expect(ended.stderr).toContain("is taken. Give another --port.")
  })
})

describe("check", { timeout: 90_000 }, () => {
  /** The client's receiver in a plain server. */
  const kit = (secret: string, secretsOfKit = secret) => served(new DeliveryReceiver({ secrets: secretsOfKit, seen: new SeenInMemory(), onEvents: () => {}, onError: () => {} }))

  const served = async (hook: DeliveryReceiver) => {
    const server = await listening((request, response) => {
      const chunks: Array<Buffer> = []
      request.on("data", (chunk: Buffer) => chunks.push(chunk)).on("end", () => {
        void hook.answer({ headers: request.headers, body: Buffer.concat(chunks) }).then(({ body, headers, status }) => void response.writeHead(status, headers).end(body))
      })
    })
    return `${urlOf(server)}/hook`
  }

  it("finds no flaw in the client's receiver", async () => {
    const secret = newSecret()
    const junit = join(directory(), "check.xml")
    const checked = await run(["check", await kit(secret), "--report", "junit", "--output", junit], { env: { WAYBILL_WEBHOOK_SECRET: secret } })
    expect(checked.stdout).not.toContain("✗")
    expect(checked).toMatchObject({ code: 0, stderr: "" })
    expect(checked.stdout).toContain("requirements met.")
    const xml = readFileSync(junit, "utf8")
    expect(xml).toMatch(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n<testsuites name="waybill check" tests="19" failures="0"/)
    expect(xml.match(/<testcase /g)).toHaveLength(19)
  })

  it("detects one that accepts everything", async () => {
    const gullible = await receiver()
    const secret = newSecret()
    const env = { WAYBILL_WEBHOOK_SECRET: secret }
    const address = `${gullible.url}/?a&b="<`
    const checked = await run(["check", address, "--report", "json"], { env })
    expect(checked.code).toBe(1)
    const [{ counts, passed, results }] = jsonLines(checked.stdout) as [{ counts: object; passed: boolean; results: ReadonlyArray<{ id: string; status: string }> }]
    expect({ counts, passed }).toEqual({ counts: { passed: 11, failed: 8, notChecked: 0 }, passed: false })
    expect(results.filter(({ status }) => status === "failed").map(({ id }) => id)).toEqual(["unsigned", "no-headers", "wrong-signature", "other-body", "other-id", "unknown-version", "stale", "ahead"])
    expect(checked.stderr).toContain("8 requirements of 19 not met")
    expect(checked.stderr).toMatch(/^1\/19 {2}good\n/)
    const xml = (await run(["check", address, "--report", "junit", "--only", "unsigned", "--only", "good"], { env })).stdout
    expect(xml.match(/<failure message="/g)).toHaveLength(1)
    expect(xml).toContain("?a&amp;b=&quot;&lt;")
    const html = join(directory(), "check.html")
    await run(["check", address, "--report", "html", "--output", html, "--only", "unsigned"], { env })
    expect(readFileSync(html, "utf8")).toMatch(/<td class="failed">failed<\/td><td><code>unsigned<\/code>/)
    expect(gullible.receptions.every(({ body }) => (JSON.parse(body).events ?? []).every((each: any) => each.shipment.shipmentId.startsWith("WAYBILL-CHECK-")))).toBe(true)
  })

  it.each([["shipment-status", 18], ["freight-charges", 19], ["pickups", 19]] as const)("checks a receiver of %s", async (kind, count) => {
    const secret = newSecret()
    const seen: Array<string> = []
    const hook = new DeliveryReceiver({
      secrets: secret,
      seen: new SeenInMemory(),
      onStatus: ({ proNumber }) => void seen.push(proNumber),
      onCharges: (charges) => void seen.push(...charges.map(({ referenceNumbers }) => referenceNumbers.pro)),
      onPickups: (changes) => void seen.push(...changes.map(({ pickupId }) => pickupId)),
      onError: () => {}
    })
    const env = { WAYBILL_WEBHOOK_SECRET: secret }
    const checked = await run(["check", await served(hook), "--kind", kind], { env })
    expect(checked.stdout).not.toContain("✗")
    expect(checked.stdout).toContain(`All ${count} requirements met.`)
    expect(checked.code).toBe(0)
    expect(seen.length).toBeGreaterThanOrEqual(count - 9)
    expect(seen.every((number) => number.startsWith("WAYBILL-CHECK-"))).toBe(true)
    const gullible = await receiver()
    const fooled = await run(["check", gullible.url, "--kind", kind], { env })
    expect(fooled.stderr).toContain(`8 requirements of ${count} not met`)
    // A receiver of another kind accepts none of these.
    const events = await run(["check", await kit(secret), "--kind", kind, "--only", "good"], { env })
    expect(events).toMatchObject({ code: 1, stdout: expect.stringContaining("✗ accepts a signed delivery") })
    if (kind === "shipment-status") expect((await run(["check", gullible.url, "--kind", kind, "--only", "good-batch"], { env })).code).toBe(2)
  })

  it("detects one that refuses everything, and one that fails instead of refusing", async () => {
    const secret = newSecret()
    const env = { WAYBILL_WEBHOOK_SECRET: secret }
    const other = await run(["check", await kit(secret, newSecret()), "--only", "good", "--only", "unsigned"], { env })
    expect(other.code).toBe(1)
    expect(other.stdout).toContain("✗ accepts a signed delivery\n    401 in")
    expect(other.stdout).toContain("Check the secret")
    expect(other.stdout).toContain("✓ refuses a delivery without a signature")
    const broken = await receiver((_, response) => void response.writeHead(500).end())
    const breaks = await run(["check", broken.url, "--only", "unsigned"], { env })
    expect(breaks.code).toBe(1)
    expect(breaks.stdout).toContain("It failed instead of refusing it")
  })

  it("reports an unreachable receiver, and missing settings", async () => {
    const gone = await receiver()
    await new Promise<void>((resolve) => gone.server.close(() => resolve()))
    const ended = await run(["check", gone.url], { env: { WAYBILL_WEBHOOK_SECRET: newSecret() } })
    expect(ended.code).toBe(3)
    expect(ended.stderr).toContain("ECONNREFUSED")
    const silent = await listening(() => {})
    const waited = await run(["check", urlOf(silent), "--timeout", "0.2"], { env: { WAYBILL_WEBHOOK_SECRET: newSecret() } })
    expect(waited.code).toBe(3)
    expect(waited.stderr).toContain("none within 0.2 s")
    expect((await run(["check", gone.url])).code).toBe(2)
    expect((await run(["check", gone.url, "--only", "nothing"])).code).toBe(2)
  })
})
