import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { beforeAll, afterAll, describe, expect, it, onTestFinished } from "vitest"
import { type Fixtures, seedThroughIntake } from "@waybill/conformance"
import { directory, eventually, listening, urlOf } from "../../program/Program.ts"
import { jsonLines, runProcess, start } from "../Cli.ts"

const { startApi } = await import(new URL("../../../../conformance/test/api/ApiUnderTest.ts", import.meta.url).pathname) as {
  readonly startApi: () => Promise<Api>
}

interface Api {
  readonly url: string
  readonly clients: () => Promise<Fixtures>
  readonly endWindow: (frequency: "hourly" | "daily") => void
  readonly stop: () => Promise<void>
}

const only = (...ids: ReadonlyArray<string>) => ids.flatMap((id) => ["--only", id])
const node = (script: string) => `"${process.execPath}" -e "${script}"`

const fileOf = (fixtures: object): string => {
  const path = join(directory(), "fixtures.json")
  writeFileSync(path, JSON.stringify(fixtures))
  return path
}

describe("check --api, as a command", { timeout: 120_000 }, () => {
  let api: Api
  beforeAll(async () => {
    api = await startApi()
  })
  afterAll(() => api.stop())

  /** Fixtures whose secrets are in variables, as the page recommends. */
  const withVariables = async () => {
    const { clients, webhook } = await api.clients()
    const keys = { CUSTOMER_KEY: clients!.customer!, OTHER_KEY: clients!.other!, CARRIER_KEY: clients!.carrier! }
    const env: Record<string, string> = { WEBHOOK_SECRET: webhook!.secret }
    for (const [name, each] of Object.entries(keys)) if ("apiKey" in each) env[name] = each.apiKey
    const file = fileOf({
      clients: {
        customer: { ...clients!.customer, apiKey: "env:CUSTOMER_KEY" },
        other: { ...clients!.other, apiKey: "env:OTHER_KEY" },
        carrier: { ...clients!.carrier, apiKey: "env:CARRIER_KEY" }
      },
      webhook: { hmacSecretId: "main", secret: "env:WEBHOOK_SECRET" }
    })
    return { env, file }
  }

  it("creates the freight through intake, and reports as text, JSON, JUnit XML and HTML without secrets", async () => {
    const { env, file } = await withVariables()
    const args = ["check", "--api", api.url, "--fixtures", file, "--intake", "--strict", "--wait", "15", ...only("a-pro-verified", "b-foreign", "d-create", "d-delivered", "e-in-flight")]
    const checked = await runProcess(args, { env })
    expect(checked).toMatchObject({ code: 0, stdout: expect.stringContaining("✓ d-create (must): creates a subscription and returns it") })
    expect(checked.stdout).toContain("All 5 rules met.")
    const html = join(directory(), "report.html")
    const both = await runProcess([...args, "--report", "html", "--output", html], { env })
    expect(both.stdout).toContain("✓ e-in-flight")
    expect(readFileSync(html, "utf8")).toContain("<code>b-foreign</code>")
    const json = await runProcess([...args, "--report", "json"], { env })
    const [{ counts, passed, results }] = jsonLines(json.stdout)
    expect({ counts, passed }).toEqual({ counts: { passed: 5, failed: 0, notChecked: 0 }, passed: true })
    expect(results[0]).toMatchObject({ id: "a-pro-verified", level: "must", source: expect.stringContaining("Area A"), status: "passed" })
    for (const secret of Object.values(env)) expect(checked.stdout + checked.stderr + both.stdout + json.stdout + json.stderr + readFileSync(html, "utf8")).not.toContain(secret)
  })

  it("publishes with a trigger, which is told the area", async () => {
    const seeded = await seedThroughIntake(api.url, await api.clients(), "t1")
    const asked: Array<string> = []
    const hook = await listening(({ url }, response) => {
      asked.push(url!)
      void seeded.trigger("d").then(() => response.end(), () => response.writeHead(500).end())
    })
    const args = ["check", "--api", api.url, "--area", "d", "--fixtures", fileOf(seeded.fixtures), "--wait", "15"]
    const published = await runProcess([...args, "--trigger", node(`fetch('${urlOf(hook)}/' + process.env.WAYBILL_CHECK_AREA)`), ...only("d-delivered", "d-signed")])
    expect(published).toMatchObject({ code: 0, stdout: expect.stringContaining("All 2 rules met.") })
    expect(asked).toEqual(["/d"])
    const broken = await runProcess([...args, "--trigger", node("console.error('no trucks'); process.exit(3)"), ...only("d-delivered")])
    expect(broken).toMatchObject({ code: 1, stdout: expect.stringContaining("The --trigger ended with 3: no trucks") })
  })

  it("waits for the end of a window as long as it may, and says so", async () => {
    const windowed = await startApi()
    onTestFinished(() => windowed.stop())
    const command = ["check", "--api", windowed.url, "--fixtures", fileOf(await windowed.clients()), "--intake", "--window-wait", "3600", ...only("e-hourly-sent", "e-daily-sent")]
    const program = start(command)
    await eventually(async () => program.output.includes("Waiting for the end of a window of hourly notifications, up to 3600 s.") || undefined, { seconds: 60, what: () => program.output })
    windowed.endWindow("hourly")
    const ended = await program.end()
    expect(program.stdout).toMatch(/✓ e-hourly-sent .*\n[^✓]*e-daily-sent/u)
    expect(program.stdout).toContain("needs --window-wait of 86400 seconds or more")
    expect(ended).toMatchObject({ code: 0 })
  })

  it("fails for must rules, for should rules with --strict only, and when nothing could be checked", async () => {
    const server = await listening((_, response) => void response.writeHead(500, { "content-type": "application/json" }).end("{\"oops\":\"<&\"}"))
    const url = urlOf(server)
    const fixtures = fileOf({ clients: { customer: { apiKey: "a-customer-key", accounts: ["A-1"] } } })
    const must = await runProcess(["check", "--api", url, "--fixtures", fixtures, "--report", "junit", ...only("a-pro-unknown", "d-unknown-subscription", "d-create")])
    expect(must).toMatchObject({ code: 1, stderr: expect.stringContaining("1 rule of 3 not met: a-pro-unknown.") })
    expect(must.stdout).toMatch(/tests="3" failures="2" errors="0" skipped="1"/u)
    expect(must.stdout).toMatch(/<failure message="GET \/in-transit\/v1\/shipment\/pro\/WAYBILLCHECK0\/verified answered 500; 404 is expected.">must, Area A[^<]*GET http[^<]*oops&quot;:&quot;&lt;&amp;/u)
    expect(must.stdout).toContain("<skipped message=\"needs webhook in the fixtures")
    const parts = await listening(({ url: path }, response) => void response.writeHead(path!.includes("/events") ? 200 : 500, { "content-type": "application/json" }).end("{\"data\":[]}"))
    const lax = ["check", "--api", urlOf(parts), "--fixtures", fixtures, ...only("d-events-unknown-shipment", "d-unknown-subscription")]
    expect(await runProcess(lax)).toMatchObject({ code: 0, stdout: expect.stringContaining("1 of 2 rules met, 1 that should be met failed, 0 not checked.") })
    expect(await runProcess([...lax, "--strict"])).toMatchObject({ code: 1 })
    expect(await runProcess(["check", "--api", url, ...only("d-create")])).toMatchObject({ code: 1, stderr: expect.stringContaining("No rule could be checked") })
    expect(must.stdout + must.stderr).not.toContain("a-customer-key")
  })

  it("refuses invalid command lines and fixtures with 2, and reports a missing implementation with 3", async () => {
    const check = (...args: ReadonlyArray<string>) => runProcess(["check", "--api", api.url, ...args])
    expect(await check("--area", "a,f")).toMatchObject({ code: 2, stderr: expect.stringContaining("f: unknown area") })
    expect(await check("--only", "good")).toMatchObject({ code: 2, stderr: expect.stringContaining("good: unknown rule") })
    expect(await check("--kind", "freight-charges")).toMatchObject({ code: 2, stderr: expect.stringContaining("--kind: for receivers only") })
    expect(await check("--intake")).toMatchObject({ code: 2, stderr: expect.stringContaining("--intake needs clients.carrier") })
    expect(await check("--intake", "--trigger", "true")).toMatchObject({ code: 2, stderr: expect.stringContaining("not both") })
    expect(await check("--fixtures", "/nowhere.json")).toMatchObject({ code: 2, stderr: expect.stringContaining("/nowhere.json cannot be read") })
    expect(await check("--fixtures", fileOf({ client: {} }))).toMatchObject({ code: 2, stderr: expect.stringContaining("The fixtures are not as documented") })
    expect(await check("--fixtures", fileOf({ webhook: { hmacSecretId: "main", secret: "env:NO_SUCH_VARIABLE" } }))).toMatchObject({ code: 2, stderr: expect.stringContaining("NO_SUCH_VARIABLE") })
    for (const seconds of ["-1", "172801"]) expect(await check("--window-wait", seconds)).toMatchObject({ code: 2, stderr: expect.stringContaining("--window-wait") })
    expect(await check("--max-calls", "0")).toMatchObject({ code: 2, stderr: expect.stringContaining("--max-calls") })
    expect(await runProcess(["check", api.url, "--area", "d", "--strict"])).toMatchObject({ code: 2, stderr: expect.stringContaining("--area, --strict: only with --api") })
    const silent = await listening(({ socket }) => void socket.destroy())
    expect(await runProcess(["check", "--api", urlOf(silent), ...only("d-events-unauthenticated")])).toMatchObject({ code: 3, stderr: expect.stringContaining("No response from") })
  })
})
