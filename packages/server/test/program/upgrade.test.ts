/** Two versions of the program on one database, as during a rolling upgrade. */
import { migrate, migrations, PgClient } from "@waybill/postgres"
import { Effect, Redacted } from "effect"
import { describe, expect, inject, it } from "vitest"
import { breakingVersion, nextVersion } from "./NextMigration.ts"
import { eventually, Program, receiver, sharedSettings, startProgram } from "./Program.ts"
import { event, tenantOn } from "./Tenant.ts"

const pgUrl = inject("pgUrl")

const newer = { NODE_OPTIONS: `--import ${new URL("./NextVersion.ts", import.meta.url).href}` }

const settledWith = async (url: string) => {
  const answer = await fetch(`${url}/readyz`)
  return { status: answer.status, ...await answer.json() as object }
}

describe("an upgrade", { timeout: 120_000 }, () => {
  it("is rolled out process by process, with both versions at work in between and no interruption", async () => {
    const { env, operatorKey } = sharedSettings(pgUrl, { WAYBILL_POOL_SIZE: "5" })
    const old = [new Program({ env }), new Program({ env })]
    const urls = await Promise.all(old.map((program) => program.ready()))
    const tenant = await tenantOn(urls[0]!, operatorKey)
    const hook = await receiver()
    for (const destination of [1, 2, 3]) {
      await tenant.customerAt(urls[0]!).createSubscription({ endpointUrl: `${hook.url}/${destination}`, hmacSecretId: "main", delivery: { batchMaxSize: 50, rateLimitPerMinute: 10_000 } })
    }

    const shipments = 10
    let stopped = false
    let rounds = 0
    const publishing = (async () => {
      while (!stopped) {
        const events = Array.from({ length: shipments }, (_, shipment) => event(`S-${shipment}`, rounds + 1))
        // the stopping process no longer answers; the others do
        for (let tries = 0;; tries++) {
          const published = await tenant.intakeAt(urls[(rounds + tries) % urls.length]!).publishTransitEvents(events).then(() => true, () => false)
          if (published) break
        }
        rounds += 1
      }
    })()
    const flowing = async () => {
      const before = rounds
      await eventually(() => rounds >= before + 5 ? true : undefined, { what: () => "publishing to go on" })
    }

    await flowing()
    // the first newer process changes the tables under the older ones
    const fresh = new Program({ env: { ...env, ...newer }, fromSource: true })
    urls.push(await fresh.ready())
    await flowing()
    for (const url of urls) expect(await settledWith(url)).toMatchObject({ status: "ready" })
    // the older one still starts, as when the newer one has to be taken back
    const back = new Program({ env })
    urls.push(await back.ready())
    await flowing()
    for (const program of old) {
      urls.shift()
      expect(await program.kill("SIGTERM")).toEqual({ code: 0, signal: null })
      await flowing()
    }
    stopped = true
    await publishing

    const expected = shipments * rounds * 3
    const sequences = new Map<string, Array<number>>()
    const arrived = () => {
      sequences.clear()
      const known = new Set<string>()
      for (const { body, path } of hook.receptions) {
        for (const { eventId, sequence, shipment } of JSON.parse(body).events) {
          const id = `${path} ${eventId}`
          if (known.has(id)) continue
          known.add(id)
          const key = `${path} ${shipment.shipmentId}`
          sequences.set(key, [...sequences.get(key) ?? [], sequence])
        }
      }
      return known.size
    }
    await eventually(() => arrived() === expected ? true : undefined, { seconds: 60, what: () => `all events: ${arrived()} of ${expected}` })
    for (const inOrder of sequences.values()) expect(inOrder).toEqual(Array.from({ length: rounds }, (_, index) => index + 1))
    expect(await fresh.kill("SIGTERM")).toEqual({ code: 0, signal: null })
    expect(await back.kill("SIGTERM")).toEqual({ code: 0, signal: null })
    expect([...old, fresh, back].flatMap(({ log }) => log.filter(({ level }) => level !== "info"))).toEqual([])
  })

  it("that older programs cannot follow takes them out of service, and lets none start", async () => {
    const { env } = sharedSettings(pgUrl)
    const { url } = await startProgram({ env })
    expect(await settledWith(url)).toMatchObject({ status: "ready", checks: [{ name: "storage", ok: true }, { name: "migrations", ok: true }, { name: "primary", ok: true }] })
    const database = PgClient.layer({ url: Redacted.make(pgUrl), maxConnections: 1 })
    await Effect.runPromise(Effect.provide(migrate({ schema: env["WAYBILL_SCHEMA"]!, migrations: [...migrations, nextVersion, breakingVersion] }), database))
    expect((await fetch(`${url}/readyz`)).status).toBe(503)
    expect(await settledWith(url)).toMatchObject({ checks: [{ name: "storage", ok: true }, { name: "migrations", ok: false }, { name: "primary", ok: true }] })
    const late = new Program({ env })
    expect(await late.end()).toEqual({ code: 1, signal: null })
    expect(late.stderr).toContain(`migration ${breakingVersion.id} (renames) is not compatible with older programs. Start the newer program, or restore a backup from before that migration.`)
  })
})
