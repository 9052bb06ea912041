/** A real server beside a transaction of a host that has locked a failing subscription. */
import pg from "pg"
import { describe, expect, inject, it, onTestFinished } from "vitest"
import { eventually, receiver, sharedSettings, startProgram } from "./Program.ts"
import { event, tenantOn } from "./Tenant.ts"

const pgUrl = inject("pgUrl")

describe("a server", { timeout: 60_000 }, () => {
  it("delivers to others while a transaction has locked a failing subscription, and to that one afterwards", async () => {
    const { env, operatorKey } = sharedSettings(pgUrl)
    const { program, url } = await startProgram({ env })
    const tenant = await tenantOn(url, operatorKey)
    let isFailing = true
    const failing = await receiver((_, response) => void response.writeHead(isFailing ? 503 : 200).end())
    const healthy = await receiver()
    const delivery = { initialBackoffSeconds: 1, maxBackoffSeconds: 1, batchMaxSize: 1 }
    const { id } = await tenant.customerAt(url).createSubscription({ endpointUrl: failing.url, hmacSecretId: "main", delivery })
    await tenant.customerAt(url).createSubscription({ endpointUrl: healthy.url, hmacSecretId: "main", delivery })

    const host = new pg.Client(pgUrl)
    await host.connect()
    onTestFinished(() => host.end())
    await host.query("BEGIN")
    await host.query(`SELECT FROM ${env["WAYBILL_SCHEMA"]}.delivery_destinations WHERE destination_id = $1 FOR UPDATE`, [id])
    const rounds = 30
    for (let n = 1; n <= rounds; n++) {
      await tenant.intakeAt(url).publishTransitEvents([event("S", n)])
      await eventually(() => healthy.receptions.length === n ? true : undefined, { seconds: 3, what: () => `event ${n}` })
    }
    const attempts = failing.receptions.length
    expect(attempts).toBeGreaterThan(0)

    isFailing = false
    await host.query("ROLLBACK")
    await eventually(() => failing.receptions.length === attempts + rounds ? true : undefined, { seconds: 30, what: () => `the events of the locked subscription, ${failing.receptions.length}` })
    expect(program.log.filter(({ level }) => level === "error")).toEqual([])
  })
})
