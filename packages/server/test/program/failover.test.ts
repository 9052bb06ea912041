/** Two processes under load while their primary is killed and its standby takes its place. */
import pg from "pg"
import { describe, expect, inject, it, onTestFinished } from "vitest"
import { startReplicatedPostgres } from "../../../postgres/test/replica/ReplicatedPostgres.ts"
import { Proxy } from "../chaos/Proxy.ts"
import { underLoad } from "./Load.ts"
import { eventually, Program, sharedSettings, startProgram } from "./Program.ts"
import { tenantOn } from "./Tenant.ts"

const addressOf = (url: string) => ({ host: "127.0.0.1", port: Number(new URL(url).port) })

const onServer = async (url: string, ...texts: ReadonlyArray<string>) => {
  const client = new pg.Client(url)
  await client.connect()
  for (const text of texts) await client.query(text)
  await client.end()
}

describe.skipIf(inject("pgPrograms") === null)("processes on a primary with a synchronous standby", { timeout: 240_000 }, () => {
  it("lose nothing and keep every shipment's order when the primary is killed and the standby promoted", async () => {
    const { primary, standby, stop } = await startReplicatedPostgres()
    onTestFinished(stop)
    await onServer(primary.url, "ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()")
    let target: ReturnType<typeof addressOf> | undefined = addressOf(primary.url)
    const proxy = await Proxy.open(() => target)
    onTestFinished(() => proxy.close())
    const url = Object.assign(new URL(primary.url), { port: String(proxy.port) }).href
    const { env, operatorKey } = sharedSettings(url, { WAYBILL_LEASE_SECONDS: "3", WAYBILL_ATTEMPT_TIMEOUT_SECONDS: "2" })
    const programs = [new Program({ env }), new Program({ env })]
    const [first] = await Promise.all(programs.map((program) => program.ready()))
    // so that retries wait whose outcomes the standby does not have
    const refuses = ({ id }: { readonly id: string }) => Number.parseInt(id.slice(-1), 16) % 3 === 1 && !tried.has(id) && tried.add(id) !== undefined
    const tried = new Set<string>()
    const load = await underLoad({ operatorKey, programs, url: first!, tenants: ["acme", "umbrella"], rounds: 60, refuses })
    await load.reached(20)
    await primary.stop()
    target = undefined
    await standby.promote()
    target = addressOf(standby.url)
    await load.check()
    for (const program of programs) expect(await program.kill("SIGTERM")).toEqual({ code: 0, signal: null })
  })

  it("are not ready while their address leads to a standby, and answer lookups", async () => {
    const { primary, standby, stop } = await startReplicatedPostgres()
    onTestFinished(stop)
    await onServer(primary.url, "ALTER SYSTEM SET synchronous_standby_names = '*'", "SELECT pg_reload_conf()")
    let target = addressOf(primary.url)
    const proxy = await Proxy.open(() => target)
    onTestFinished(() => proxy.close())
    const { env, operatorKey } = sharedSettings(Object.assign(new URL(primary.url), { port: String(proxy.port) }).href, { WAYBILL_ROLE: "api" })
    const { url } = await startProgram({ env })
    const { customerKey } = await tenantOn(url, operatorKey)
    const readiness = async () => {
      const answer = await fetch(`${url}/readyz`)
      const { checks } = await answer.json() as { readonly checks: ReadonlyArray<{ readonly name: string; readonly ok: boolean }> }
      return { code: answer.status, failing: checks.filter(({ ok }) => !ok).map(({ name }) => name) }
    }
    expect(await readiness()).toEqual({ code: 200, failing: [] })

    await primary.stop()
    target = addressOf(standby.url)
    expect(await eventually(async () => {
      const { code, failing } = await readiness()
      // other checks fail while connections to the primary end
      return failing.join() === "primary" ? code : undefined
    })).toBe(503)
    await eventually(async () => (await fetch(`${url}/visibility/v1/events`, { headers: { "x-api-key": customerKey } })).status === 200 ? true : undefined)

    await standby.promote()
    await eventually(async () => (await readiness()).code === 200 ? true : undefined)
  })
})
