/** Processes with a standby for lookups, under load, while that standby pauses, freezes, ends, starts again and is promoted. */
import pg from "pg"
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from "vitest"
import { type ReplicatedPostgres, startReplicatedPostgres } from "../../../postgres/test/replica/ReplicatedPostgres.ts"
import { jsonLines, runProcess } from "../commands/Cli.ts"
import { eventually, Program, sharedSettings } from "./Program.ts"
import { event, type TestTenant, tenantOn } from "./Tenant.ts"

let servers: ReplicatedPostgres

const replicaCheck = async (url: string) => {
  const response = await fetch(`${url}/readyz`)
  const { checks } = await response.json() as { readonly checks: ReadonlyArray<{ readonly name: string; readonly ok: boolean }> }
  return { status: response.status, isUsed: checks.find(({ name }) => name === "read replica")?.ok }
}

const until = (urls: ReadonlyArray<string>, isUsed: boolean) =>
  eventually(async () => (await Promise.all(urls.map(replicaCheck))).every((each) => each.status === 200 && each.isUsed === isUsed) ? true : undefined)

const metric = async (url: string, name: string) => Number(new RegExp(`^${name} (\\S+)$`, "m").exec(await (await fetch(`${url}/metrics`)).text())?.[1] ?? 0)

const onStandby = async (text: string) => {
  const client = new pg.Client(servers.standby.url)
  await client.connect()
  await client.query(text)
  await client.end()
}

/** Callers that publish an event at one process and look for it at another one, until they are stopped. */
const callers = (tenant: TestTenant, urls: ReadonlyArray<string>) => {
  const missed: Array<string> = []
  let [rounds, isRunning] = [0, true]
  const caller = async (n: number) => {
    for (let number = 1; isRunning; number++) {
      const shipmentId = `S-${n}-${number}`
      const [writes, reads] = [urls[(n + number) % urls.length]!, urls[(n + number + 1) % urls.length]!]
      const seen = await tenant.intakeAt(writes).publishTransitEvents([event(shipmentId, 1)]).then(() => tenant.customerAt(reads).listEvents({ shipmentId }))
      if (seen.data.length !== 1) missed.push(shipmentId)
      rounds += 1
    }
  }
  const running = Promise.allSettled([0, 1, 2].map(caller))
  return {
    missed,
    /** Waits until the callers have done this many rounds more. */
    further: (count: number) => {
      const goal = rounds + count
      return eventually(() => rounds >= goal ? true : undefined)
    },
    stop: async () => {
      isRunning = false
      return (await running).flatMap((result) => result.status === "rejected" ? [String(result.reason)] : [])
    }
  }
}

describe.skipIf(inject("pgPrograms") === null)("processes with a read replica", { timeout: 180_000 }, () => {
  beforeAll(async () => {
    servers = await startReplicatedPostgres()
  })
  afterAll(() => servers?.stop())

  it("answer every lookup with what was written before it, whatever happens to the replica", async () => {
    const { env, operatorKey } = sharedSettings(servers.primary.url, { WAYBILL_POOL_SIZE: "6" })
    const withReplica = { ...env, WAYBILL_READ_DATABASE_URL: servers.standby.url }
    const doctor = async () => {
      const { stdout } = await runProcess(["doctor", "--json"], { env: withReplica })
      return (jsonLines(stdout)[0].checks as ReadonlyArray<{ readonly name: string; readonly detail: string }>).find(({ name }) => name === "read replica")!.detail
    }
    const programs = [new Program({ env: withReplica }), new Program({ env: { ...withReplica, WAYBILL_ROLE: "api" } })]
    const urls = await Promise.all(programs.map((program) => program.ready()))
    const tenant = await tenantOn(urls[0]!, operatorKey)
    await until(urls, true)
    const load = callers(tenant, urls)
    onTestFinished(() => void load.stop())
    await load.further(20)
    expect(await metric(urls[0]!, "waybill_replica_used")).toBe(1)

    await onStandby("SELECT pg_wal_replay_pause()")
    await until(urls, false)
    await load.further(20)
    expect(await metric(urls[1]!, "waybill_replica_lag_bytes")).toBeGreaterThan(0)
    await onStandby("SELECT pg_wal_replay_resume()")
    await until(urls, true)

    const unfreeze = servers.standby.freeze()
    try {
      await until(urls, false)
      await load.further(20)
    } finally {
      unfreeze()
    }
    await until(urls, true)

    await servers.standby.stop()
    await until(urls, false)
    await load.further(20)
    expect(await doctor()).toContain("lookups are not sent to")
    const late = new Program({ env: withReplica })
    const all = [...urls, await late.ready()]
    await until(all, false)
    await servers.standby.start()
    await until(all, true)
    const answered = await metric(urls[0]!, `waybill_replica_lookups_total\\{server="replica"\\}`)
    await eventually(async () => (await metric(urls[0]!, `waybill_replica_lookups_total\\{server="replica"\\}`)) > answered ? true : undefined)
    await load.further(20)

    await servers.standby.promote()
    await until(all, false)
    await load.further(20)
    expect(await doctor()).toContain("it is no standby")

    expect(await load.stop()).toEqual([])
    expect(load.missed).toEqual([])
    for (const program of [...programs, late]) {
      expect(program.log.filter(({ level, message }) => level === "error" || (level === "warn" && !String(message).startsWith("Read replica not in use: ")))).toEqual([])
      expect(await program.kill("SIGTERM")).toEqual({ code: 0, signal: null })
    }
  })
})
