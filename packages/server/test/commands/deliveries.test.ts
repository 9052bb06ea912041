import { describe, expect, it } from "vitest"
import { eventually, listening, receiver, urlOf } from "../program/Program.ts"
import { event } from "../program/Tenant.ts"
import { jsonLines, run, runningServer, start } from "./Cli.ts"

/** One attempt until a dead letter, so that there is a delivery to send again. */
const impatient = { maxAttempts: 1, initialBackoffSeconds: 1, maxBackoffSeconds: 1 }

/** A receiver with a configurable response, and a subscription for it. */
const subscribed = async (server: Awaited<ReturnType<typeof runningServer>>) => {
  const answers = { status: 200 }
  const hook = await receiver((_, response) => void response.writeHead(answers.status).end("as \u001b[31mreceivers\u001b[0m say"))
  const { id } = await server.customer.createSubscription({ endpointUrl: `${hook.url}/hook`, hmacSecretId: "main", delivery: impatient })
  const settled = async (count: number, state: "delivered" | "dead" = "delivered") =>
    eventually(async () => {
      const { data } = await server.operator.listDeliveries("acme", { state })
      return data.length >= count ? data : undefined
    }, { what: () => `${count} ${state}` })
  return { answers, hook, id, settled }
}

describe("deliveries on the command line", { timeout: 60_000 }, () => {
  it("lists deliveries, with filters", async () => {
    const server = await runningServer()
    const { answers, id, settled } = await subscribed(server)
    await server.intake.publishTransitEvents([event("S-1", 1)])
    await settled(1)
    answers.status = 500
    await server.intake.publishTransitEvents([event("S-2", 1)])
    const [dead] = await settled(1, "dead")

    const all = await run(["deliveries"], { env: server.env })
    expect(all).toMatchObject({ code: 0, stderr: "" })
    expect(all.stdout.trimEnd().split("\n")).toHaveLength(2)
    expect(all.stdout).toContain(`of ${id}`)
    expect(all.stdout).toContain("1 attempt, last accepted 200")
    const narrow = await run(["deliveries", "--state", "dead", "--subscription", id, "--since", "1h", "--json"], { env: server.env })
    expect(jsonLines(narrow.stdout)).toEqual([expect.objectContaining({ deliveryId: dead!.deliveryId, state: "dead" })])
    const first = await run(["deliveries", "--limit", "1"], { env: server.env })
    expect(first.stdout.trimEnd().split("\n")).toHaveLength(1)
    expect(first.stderr).toContain("there are more")
    const none = await run(["deliveries", "--state", "cancelled"], { env: server.env })
    expect(none).toMatchObject({ code: 0, stdout: "" })
    expect(none.stderr).toContain("No such delivery")
  })

  it("shows one with its body and attempts, and escapes terminal sequences of the receiver", async () => {
    const server = await runningServer()
    const { answers, hook, settled } = await subscribed(server)
    answers.status = 500
    await server.intake.publishTransitEvents([event("S-1", 1)])
    const [dead] = await settled(1, "dead")
    const shown = await run(["deliveries", dead!.deliveryId], { env: server.env })
    expect(shown.code).toBe(0)
    for (const text of [`Delivery ${dead!.deliveryId} is dead`, `endpoint now  ${hook.url}/hook`, "http_5xx 500", "receivers", hook.receptions[0]!.body]) expect(shown.stdout).toContain(text)
    expect(shown.stdout).not.toContain("\u001b")
    expect((await run(["deliveries", dead!.deliveryId, "--body"], { env: server.env })).stdout).toBe(hook.receptions[0]!.body)
    const misplaced = await run(["deliveries", dead!.deliveryId, "--state", "dead", "--client", "shop"], { env: server.env })
    expect(misplaced).toEqual({ code: 2, stdout: "", stderr: "waybill: --state, --client: for lists only. Leave the delivery's id out, or these filters.\n" })
    expect(await run(["deliveries", dead!.deliveryId, "--body", "--json"], { env: server.env })).toMatchObject({ code: 2, stdout: "" })
    const asJson = await run(["deliveries", dead!.deliveryId, "--json"], { env: server.env })
    expect(jsonLines(asJson.stdout)).toEqual([await server.operator.getDelivery("acme", dead!.deliveryId)])
  })

  it("sends one again, then dead letters, then past events", async () => {
    const server = await runningServer()
    const { answers, hook, id, settled } = await subscribed(server)
    answers.status = 500
    await server.intake.publishTransitEvents([event("S-1", 1)])
    const [first] = await settled(1, "dead")
    await server.intake.publishTransitEvents([event("S-2", 1)])
    await settled(2, "dead")
    answers.status = 200

    const retried = await run(["retry", first!.deliveryId], { env: server.env })
    expect(retried).toEqual({ code: 0, stdout: `${first!.deliveryId} is queued again.\n`, stderr: "" })
    await settled(1)
    const recovered = await run(["recover", id, "--since", "1h", "--json"], { env: server.env })
    expect(jsonLines(recovered.stdout)).toEqual([expect.objectContaining({ subscriptionId: id, recovered: 1 })])
    await settled(2)
    expect((await run(["recover", id, "--since", "1h"], { env: server.env })).stdout).toContain("There are no dead letters of")

    const before = hook.receptions.length
    expect((await run(["replay", id, "--from", "1h", "--shipment", "S-2"], { env: server.env })).stdout).toContain("1 entry since")
    const again = await eventually(() => hook.receptions[before])
    expect(JSON.parse(again.body).events.map(({ eventId }: any) => eventId)).toEqual(["S-2/1"])
    expect(again.id).not.toBe(hook.receptions[before - 1]!.id)
  })

  it("sends all dead letters that match again, dismisses others, edits a subscription, and drops what waits in several", async () => {
    const server = await runningServer()
    const { answers, hook, id, settled } = await subscribed(server)
    const host = new URL(hook.url).host
    answers.status = 500
    await server.intake.publishTransitEvents([event("S-1", 1)])
    await settled(1, "dead")
    await server.intake.publishTransitEvents([event("S-2", 1)])
    const [last] = await settled(2, "dead")

    const listed = await run(["deliveries", "--endpoint", host, "--error", "http_5xx", "--json"], { env: server.env })
    expect(jsonLines(listed.stdout)).toHaveLength(2)
    expect(await run(["retry"], { env: server.env })).toMatchObject({ code: 2, stdout: "" })
    expect(await run(["retry", last!.deliveryId, "--error", "timeout"], { env: server.env })).toMatchObject({ code: 2, stdout: "" })
    expect((await run(["retry", "--error", "timeout"], { env: server.env })).stdout).toBe("No dead letter matches.\n")
    expect((await run(["dismiss", "--endpoint", host, "--since", last!.createdAt], { env: server.env })).stdout).toBe("Dismissed: 1 dead letter.\n")
    answers.status = 200
    const retried = await run(["retry", "--endpoint", host, "--error", "http_5xx", "--json"], { env: server.env })
    expect(jsonLines(retried.stdout)).toEqual([{ retried: 1 }])
    await settled(1)

    const edited = await run(["subscriptions", "edit", id, "--rate-per-minute", "60", "--shipment", "S-1", "--json"], { env: server.env })
    expect(jsonLines(edited.stdout)).toEqual([expect.objectContaining({ subscriptionId: id, delivery: expect.objectContaining({ rateLimitPerMinute: 60 }), filters: { shipmentIds: ["S-1"] } })])
    expect((await run(["subscriptions", "edit", id, "--shipment", "all"], { env: server.env })).stdout).toContain('{"filters":{"shipmentIds":null}}')
    for (const settings of [[], ["--shipment", "all", "--shipment", "S-2"]]) expect(await run(["subscriptions", "edit", id, ...settings], { env: server.env })).toMatchObject({ code: 2, stdout: "" })
    const second = await server.customer.createSubscription({ endpointUrl: `${hook.url}/more`, hmacSecretId: "main", delivery: impatient })
    for (const each of [id, second.id]) await server.operator.pause("acme", each, { reason: "It is being moved." })
    await server.intake.publishTransitEvents([event("S-3", 1)])
    expect((await run(["subscriptions", "purge", id, second.id, "--json"], { env: server.env })).stdout).toBe('{"subscriptions":2,"dropped":2}\n')
    await server.intake.publishTransitEvents([event("S-4", 1)])
    expect((await run(["subscriptions", "purge", "--state", "paused"], { env: server.env })).stdout).toBe("2 entries of 2 subscriptions dropped.\n")
    expect((await run(["subscriptions", "purge", "--state", "paused"], { env: server.env })).stdout).toBe("No subscription that matches has waiting entries.\n")
    expect(await run(["subscriptions", "purge"], { env: server.env })).toMatchObject({ code: 2, stdout: "" })
    const actions = (await server.operator.listAudit({ tenant: "acme" })).data.map(({ action }) => action)
    for (const action of ["dead-letters.retry", "dead-letters.dismiss", "subscriptions.purge"]) expect(actions).toContain(action)
  })

  it("follows them as they happen, also over an outage of the server, until it is stopped", async () => {
    const server = await runningServer()
    const { answers, id, settled } = await subscribed(server)
    answers.status = 500
    const tail = start(["tail", "--interval", "0.1"], server.env)
    await eventually(() => tail.stderr.includes("Following") ? true : undefined, { what: () => tail.output })
    await server.intake.publishTransitEvents([event("S-1", 1)])
    const line = await eventually(() => tail.stdout.split("\n").find((line) => line.includes("attempt 1: http_5xx 500")), { what: () => tail.output })
    expect(line).toContain(`of ${id}`)
    expect(line).toMatch(/ dead +/)

    const [dead] = await settled(1, "dead")
    const { port } = new URL(server.url)
    server.server.closeAllConnections()
    await new Promise<void>((resolve) => server.server.close(() => resolve()))
    await eventually(() => tail.stderr.includes("Retrying.") ? true : undefined, { what: () => tail.output })
    await new Promise<void>((resolve) => server.server.listen(Number(port), "127.0.0.1", resolve))
    await eventually(() => tail.stderr.includes("The server is reachable again.") ? true : undefined, { what: () => tail.output })
    answers.status = 200
    await server.operator.retryDelivery("acme", dead!.deliveryId)
    await eventually(() => tail.stdout.includes("attempt 2: accepted 200") ? true : undefined, { what: () => tail.output })
    expect(await tail.kill("SIGINT")).toEqual({ code: 0, signal: null })
    // Each attempt once.
    expect(tail.stdout.match(/attempt 1:/g)).toHaveLength(1)
  })

  it("reads deliveries in progress again that are not listed any more, and no finished ones", async () => {
    const delivery = (state: string, at: number) => ({ deliveryId: state, subscriptionId: "s-1", state, createdAt: new Date(at).toISOString(), settledAt: null, nextAttemptAt: null, reason: null, events: 1, attempts: [] })
    const [earlier, now] = [Date.now() - 3_600_000, Date.now()]
    const data = ["sending", "dismissed", "dead", "cancelled"].map((state) => delivery(state, earlier))
    const asked: Array<string> = []
    const server = await listening(({ url = "" }, response) => {
      const path = url.split("?")[0]!
      const id = /\/deliveries\/(.+)$/.exec(path)?.[1]
      if (path.endsWith("/deliveries")) asked.push("list")
      if (id !== undefined) asked.push(id)
      response.writeHead(200, { "content-type": "application/json" })
        .end(JSON.stringify(id === undefined ? { data: [...data, delivery("delivered", now)], nextCursor: null } : data.find(({ deliveryId }) => deliveryId === id)))
    })
    start(["tail", "--interval", "0.1", "--since", "2h"], { WAYBILL_URL: urlOf(server), WAYBILL_OPERATOR_KEY: "the-key-of-an-operator", WAYBILL_TENANT: "acme" })
    await eventually(() => asked.filter((what) => what === "list").length > 3 || undefined)
    expect(new Set(asked)).toEqual(new Set(["list", "sending"]))
  })

  it("follows only failures, as JSON, with the flags for it", async () => {
    const server = await runningServer()
    const { answers, settled } = await subscribed(server)
    await server.intake.publishTransitEvents([event("S-1", 1)])
    await settled(1)
    answers.status = 500
    await server.intake.publishTransitEvents([event("S-2", 1)])
    const [dead] = await settled(1, "dead")
    const tail = start(["tail", "--interval", "0.1", "--since", "1h", "--failures", "--json"], server.env)
    await eventually(() => tail.stderr.includes("Following") ? true : undefined, { what: () => tail.output })
    expect(jsonLines(tail.stdout)).toEqual([dead])
    expect(await tail.kill("SIGTERM")).toEqual({ code: 0, signal: null })
  })
})

describe("calling a server", { timeout: 60_000 }, () => {
  it("reports missing settings before it calls", async () => {
    const none = await run(["deliveries"])
    expect(none).toMatchObject({ code: 2, stdout: "" })
    expect(none.stderr).toBe("waybill: No tenant given. Give --tenant, or set WAYBILL_TENANT.\n")
    const keyless = await run(["deliveries", "--tenant", "acme", "--url", "https://freight.example"])
    expect(keyless.code).toBe(2)
    expect(keyless.stderr).toContain("WAYBILL_OPERATOR_KEY")
    const scheme = await run(["deliveries", "--tenant", "acme", "--url", "freight.example"])
    expect(scheme).toMatchObject({ code: 2, stderr: "waybill: The server's address must start with https:// or http://.\n" })
    expect((await run(["recover", "x", "--since", "yesterday"])).code).toBe(2)
    expect((await run(["deliveries", "--nonsense"])).code).toBe(2)
  })

  it("takes a word behind a flag as its value, also if it begins with a hyphen", async () => {
    const ago = await run(["deliveries", "--tenant", "acme", "--since", "-1h"])
    expect(ago).toMatchObject({ code: 2, stdout: expect.not.stringContaining("USAGE") })
    expect(ago.stderr).toContain(`Invalid value for flag --since: "-1h". Expected: 15m, 2h or 3d for so long ago`)
    const reason = await run(["subscriptions", "pause", "x", "--reason", "-high load", "--url", "freight.example"])
    expect(reason).toMatchObject({ code: 2, stderr: "waybill: The server's address must start with https:// or http://.\n" })
    expect((await run(["deliveries", "--json", "-h"])).stdout).toContain("USAGE")
  })

  it("refuses a range that ends before it begins, and lists all for an age before 1970", async () => {
    const { env } = await runningServer()
    for (const command of ["deliveries", "retry", "dismiss"]) {
      expect(await run([command, "--since", "1h", "--until", "2h"], { env })).toEqual({ code: 2, stdout: "", stderr: "waybill: --until is before --since.\n" })
    }
    expect(await run(["statistics", "--from", "1h", "--to", "2h"], { env })).toEqual({ code: 2, stdout: "", stderr: "waybill: --to is not after --from.\n" })
    expect(await run(["deliveries", "--since", "999999d"], { env })).toEqual({ code: 0, stdout: "", stderr: "No such delivery since 1970-01-01T00:00:00.000Z.\n" })
  })

  it("distinguishes a refusal from an unreachable server", async () => {
    const server = await runningServer()
    const wrong = await run(["deliveries", "--key", "not-the-key"], { env: server.env })
    expect(wrong.code).toBe(4)
    expect(wrong.stderr).toContain("Check that the key is right for this server.")
    const unknown = await run(["retry", "0199a6c2-5f1e-7b7a-9d53-0b8a4c6e2f10"], { env: server.env })
    expect(unknown.code).toBe(4)
    expect(unknown.stderr).toContain("answered 404")
    const stranger = await run(["deliveries", "--tenant", "nobody"], { env: server.env })
    expect(stranger.code).toBe(4)
    await new Promise<void>((resolve) => {
      server.server.close(() => resolve())
      server.server.closeAllConnections()
    })
    const gone = await run(["deliveries"], { env: server.env })
    expect(gone.code).toBe(3)
    expect(gone.stderr).toContain("ECONNREFUSED")
    for (const { stderr, stdout } of [wrong, unknown, stranger, gone]) expect(stdout + stderr).not.toContain(server.operatorKey)
  })
})
