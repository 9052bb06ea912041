/** A real server beside a transaction of a host that has locked a failing subscription, or its deliveries. */
import pg from "pg"
import { describe, expect, inject, it, onTestFinished } from "vitest"
import { eventually, receiver, sharedSettings, startProgram } from "./Program.ts"
import { event, tenantOn } from "./Tenant.ts"

const pgUrl = inject("pgUrl")

/** A failing subscription and another one of the same tenant, and a transaction of a host. `recovers`: every second attempt to the other one succeeds. */
const serverBesideHost = async ({ recovers }: { readonly recovers: boolean }) => {
  const { env, operatorKey } = sharedSettings(pgUrl)
  const { program, url } = await startProgram({ env })
  const tenant = await tenantOn(url, operatorKey)
  const receivers = { isFailing: true }
  const failing = await receiver((_, response) => void response.writeHead(receivers.isFailing ? 503 : 200).end())
  const other = await receiver((_, response) => void response.writeHead(recovers && other.receptions.length % 2 === 1 ? 503 : 200).end())
  const delivery = { initialBackoffSeconds: 1, maxBackoffSeconds: 1, batchMaxSize: 1 }
  const { id } = await tenant.customerAt(url).createSubscription({ endpointUrl: failing.url, hmacSecretId: "main", delivery })
  await tenant.customerAt(url).createSubscription({ endpointUrl: other.url, hmacSecretId: "main", delivery })
  const host = new pg.Client(pgUrl)
  await host.connect()
  onTestFinished(() => host.end())
  await host.query("BEGIN")
  return {
    failing,
    receivers,
    other,
    publish: (n: number) => tenant.intakeAt(url).publishTransitEvents([event("S", n)]),
    /** Locks the rows of the failing subscription. Returns their number. */
    lock: async (table: "delivery_destinations" | "deliveries") =>
      (await host.query(`SELECT FROM ${env["WAYBILL_SCHEMA"]}.${table} WHERE destination_id = $1 FOR UPDATE`, [id])).rowCount,
    unlock: () => host.query("ROLLBACK"),
    errors: () => program.log.filter(({ level }) => level === "error")
  }
}

describe("a server", { timeout: 60_000 }, () => {
  it("delivers to others while a transaction has locked a failing subscription, and to that one afterwards", async () => {
    const { errors, failing, lock, other, publish, receivers, unlock } = await serverBesideHost({ recovers: false })
    await lock("delivery_destinations")
    const rounds = 30
    for (let n = 1; n <= rounds; n++) {
      await publish(n)
      await eventually(() => other.receptions.length === n ? true : undefined, { what: () => `event ${n}` })
    }
    const attempts = failing.receptions.length
    expect(attempts).toBeGreaterThan(0)

    receivers.isFailing = false
    await unlock()
    await eventually(() => failing.receptions.length === attempts + rounds ? true : undefined, { seconds: 30, what: () => `the events of the locked subscription, ${failing.receptions.length}` })
    expect(errors()).toEqual([])
  })

  it("retries deliveries to others while a transaction has locked those of a failing subscription, and these afterwards", async () => {
    const { errors, failing, lock, other, publish, receivers, unlock } = await serverBesideHost({ recovers: true })
    await publish(1)
    await eventually(async () => await lock("deliveries") === 1 ? true : undefined, { what: () => "a delivery that waits for its retry" })
    const rounds = 5
    for (let n = 2; n <= rounds; n++) {
      await publish(n)
      await eventually(() => other.receptions.length === 2 * n ? true : undefined, { what: () => `event ${n}, ${other.receptions.length} attempts` })
    }
    const attempts = failing.receptions.length

    receivers.isFailing = false
    await unlock()
    await eventually(() => failing.receptions.length === attempts + rounds ? true : undefined, { seconds: 30, what: () => `the events of the failing subscription, ${failing.receptions.length}` })
    expect(errors()).toEqual([])
  })
})
