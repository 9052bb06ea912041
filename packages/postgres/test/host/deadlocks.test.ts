/** Transactions that lock the same rows: of hosts, which may do so in opposite order, and of calls, which do not. */
import { createWaybill, WaybillError } from "@waybill/http"
import { pickupRequest } from "@waybill/testkit"
import pg from "pg"
import { expect, inject, it, onTestFinished } from "vitest"
import { postgresStorage } from "../../src/index.ts"
import { freshSchema } from "../TestStorage.ts"
import { carrier, customer, tenantId } from "./Service.ts"

const start = async () => {
  const schema = freshSchema()
  const pool = new pg.Pool({ connectionString: inject("pgUrl"), max: 6, application_name: schema })
  const waybill = createWaybill({ storage: postgresStorage({ pool, schema, listen: false }), sealingKeys: [new Uint8Array(32).fill(7)], log: () => {} })
  onTestFinished(async () => {
    await waybill.stop()
    await pool.query(`DROP SCHEMA "${schema}" CASCADE`)
    await pool.end()
  })
  await waybill.tenants.put(tenantId, { name: "Acme" })
  return { waybill, pool, schema }
}

type Started = Awaited<ReturnType<typeof start>>

const request = pickupRequest({ orgAccountNumber: "A", day: "2099-11-20" }) as never

const orders = async ({ waybill }: Started) => {
  const ordered = [await waybill.pickups.create(customer, request), await waybill.pickups.create(customer, request)]
  return ordered.map(([answer]) => answer!.carrierPickupNumber!) as [string, string]
}

type Report = Parameters<Started["waybill"]["pickups"]["report"]>[2]

interface Host {
  readonly numbers: readonly [string, string]
  readonly report: Report
  /** Runs between both reports of the first attempt. */
  readonly between?: () => Promise<void>
  readonly connected?: (pid: number) => void
}

/** Reports on both pickups in one transaction, and repeats the transaction after a deadlock. Returns the number of attempts. */
const reportBoth = async ({ pool, waybill }: Started, { between, connected, numbers: [first, second], report }: Host): Promise<number> => {
  const client = await pool.connect()
  try {
    const { rows: [{ pid }] } = await client.query("SELECT pg_backend_pid() AS pid")
    for (let attempt = 1; ; attempt++) {
      await client.query("BEGIN")
      try {
        if (attempt === 1) connected?.(pid)
        await waybill.within(client).pickups.report(carrier, first, report)
        if (attempt === 1) await between?.()
        await waybill.within(client).pickups.report(carrier, second, report)
        await client.query("COMMIT")
        return attempt
      } catch (error) {
        await client.query("ROLLBACK")
        if (!(error instanceof WaybillError) || error.code !== "unavailable") throw error
      }
    }
  } finally {
    client.release()
  }
}

const waitsForLock = async (pool: pg.Pool, pid: number) => {
  for (;;) {
    const { rows } = await pool.query("SELECT FROM pg_stat_activity WHERE pid = $1 AND wait_event_type = 'Lock'", [pid])
    if (rows.length > 0) return
  }
}

it("lose no write in a deadlock: the transaction that Postgres aborts is repeated", async () => {
  const started = await start()
  const { pool, waybill } = started
  const [one, two] = await orders(started)
  let other: Promise<number> | undefined
  const own = await reportBoth(started, {
    numbers: [one, two],
    report: { stopEta: "2099-11-20T09:40:00" },
    // the other one holds the second pickup, and waits for the work list's number
    between: async () => {
      const pid = await new Promise<number>((connected) => other = reportBoth(started, { numbers: [two, one], report: { equipmentInformation: { trailerNumber: "53" } }, connected }))
      await waitsForLock(pool, pid)
    }
  })
  expect(own + await other!).toBe(3)
  for (const lookupValue of [one, two]) {
    const { equipmentInformation, stopEta } = await waybill.pickups.visibility(customer, { lookupValue, lookupType: "PickupConfirmationID", requestType: "PickupStatus", isTest: "false" })
    expect([stopEta, equipmentInformation?.trailerNumber]).toEqual(["2099-11-20T09:40:00", "53"])
  }
  expect((await waybill.pickups.changes(carrier)).data.filter(({ change }) => change === "status")).toHaveLength(4)
})

it("wait for each other and need no repetition when they change pickups in the same order", async () => {
  const started = await start()
  const [one, two] = await orders(started)
  let other: Promise<number> | undefined
  const own = await reportBoth(started, {
    numbers: [one, two],
    report: { stopEta: "2099-11-20T09:40:00" },
    between: async () => {
      const pid = await new Promise<number>((connected) => other = reportBoth(started, { numbers: [one, two], report: { equipmentInformation: { trailerNumber: "53" } }, connected }))
      await waitsForLock(started.pool, pid)
    }
  })
  expect([own, await other!]).toEqual([1, 1])
})

/** Waits until this number of the pool's connections wait for locks. */
const untilBlocked = async ({ pool, schema }: Started, count: number) => {
  for (;;) {
    const { rows } = await pool.query("SELECT FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'", [schema])
    if (rows.length >= count) return
  }
}

/** Holds rows back until both calls wait, the first one before the second begins. */
const crossing = async (started: Started, held: string, first: () => Promise<unknown>, second: () => Promise<unknown>) => {
  const holder = await started.pool.connect()
  try {
    await holder.query("BEGIN")
    await holder.query(`SET LOCAL search_path = "${started.schema}"`)
    await holder.query(held)
    const calls = [first()]
    await untilBlocked(started, 1)
    calls.push(second())
    await untilBlocked(started, 2)
    await holder.query("COMMIT")
    return await Promise.all(calls)
  } finally {
    holder.release()
  }
}

it("a change of a subscription and one of its signing secret never meet a deadlock", async () => {
  const started = await start()
  const { waybill } = started
  await waybill.secrets.put(tenantId, "main", { anyClient: true })
  const { id } = await waybill.subscriptions.create(customer, { endpointUrl: "https://shop.example/hook", hmacSecretId: "main" })
  const held = "SELECT FROM delivery_destinations FOR UPDATE"
  await crossing(started, held, () => waybill.subscriptions.patch(customer, id, { delivery: { maxAttempts: 3 } }), () => waybill.secrets.put(tenantId, "main", {}))
  await crossing(started, held, () => waybill.secrets.put(tenantId, "main", {}), () => waybill.subscriptions.patch(customer, id, { delivery: { maxAttempts: 4 } }))
  expect(await waybill.subscriptions.get(customer, id)).toMatchObject({ delivery: { maxAttempts: 4 } })
})

it("a new key of a client whose token has other accounts never meets a deadlock with a change of its subscription", async () => {
  const started = await start()
  const { waybill } = started
  await waybill.secrets.put(tenantId, "main", { accounts: ["A", "B"] })
  await waybill.apiKeys.create(tenantId, { name: "shop", roles: ["customer"], accounts: ["A"] })
  const { id } = await waybill.subscriptions.create(customer, { endpointUrl: "https://shop.example/hook", hmacSecretId: "main" })
  await crossing(
    started,
    "SELECT FROM clients WHERE origin <> 'key' FOR UPDATE",
    () => waybill.subscriptions.patch({ ...customer, accounts: ["A", "C"] }, id, { delivery: { maxAttempts: 3 } }),
    () => waybill.apiKeys.create(tenantId, { name: "shop", roles: ["customer"], accounts: ["B"] })
  )
  expect(await waybill.subscriptions.get(customer, id)).toMatchObject({ delivery: { maxAttempts: 3 } })
})
