import { expect, inject, it } from "vitest"
import { runProcess } from "../commands/Cli.ts"
import { eventually, sharedSettings, startProgram } from "./Program.ts"

it("answers the operator API on the admin address only, and probes on both", { timeout: 120_000 }, async () => {
  const key = "alice-0123456789abcdef0123"
  const reader = "grafana-0123456789abcdef01"
  const { env } = sharedSettings(inject("pgUrl"), { WAYBILL_ADMIN_PORT: "0", WAYBILL_OPERATOR_KEY: `alice:${key},grafana:read:${reader}` })
  const { program, url } = await startProgram({ env })
  const adminUrl: string = program.log.find(({ message }) => message === "Ready.")!["adminUrl"]
  expect(new URL(adminUrl).port).not.toBe(new URL(url).port)
  const statuses = (base: string, paths: ReadonlyArray<string>) =>
    Promise.all(paths.map(async (path) => (await fetch(`${base}${path}`, { headers: { "x-api-key": key }, redirect: "manual" })).status))
  const operators = ["/operator/v1/tenants", "/metrics", "/docs", "/openapi/operator.json"]
  const both = ["/", "/healthz", "/openapi.json"]
  expect(await statuses(adminUrl, [...operators, ...both])).toEqual([200, 200, 200, 200, 200, 200, 200])
  expect(await statuses(url, [...operators, "/dashboard", "/dashboard/", ...both])).toEqual([404, 404, 404, 404, 404, 404, 200, 200, 200])
  // not ready for a moment while the database answers slowly
  for (const base of [adminUrl, url]) await eventually(async () => (await statuses(base, ["/readyz"]))[0] === 200 ? true : undefined, { what: () => `${base} being ready` })
  expect(await statuses(adminUrl, ["/visibility/v1/events"])).toEqual([404])
  const pathsOf = async (base: string) => Object.keys((await (await fetch(`${base}/openapi.json`)).json() as { readonly paths: object }).paths)
  expect((await pathsOf(url)).some((path) => path.startsWith("/operator"))).toBe(false)
  expect((await pathsOf(adminUrl)).some((path) => path.startsWith("/operator"))).toBe(true)
  const put = (apiKey: string) =>
    fetch(`${adminUrl}/operator/v1/tenants/acme`, { method: "PUT", headers: { "x-api-key": apiKey, "content-type": "application/json" }, body: "{\"name\":\"Acme\"}" })
  expect([(await put(reader)).status, (await put(key)).status]).toEqual([403, 200])
  const misdirected = await runProcess(["tenants", "list", "--url", url], { env: { WAYBILL_OPERATOR_KEY: key } })
  expect(misdirected).toMatchObject({ code: 4, stderr: expect.stringContaining("answers operators on that port only") })
  expect((await program.kill("SIGTERM")).code).toBe(0)
  expect(program.output).not.toMatch(/0123456789abcdef/)
})
