/** Handled ids and the handler's writes in one transaction: each delivery has its effect exactly once. */
import { CompiledQuery, Kysely, PostgresDialect } from "kysely"
import pg from "pg"
import { forRandom, type SeededRandom } from "@waybill/conformance/fixtures"
import { afterAll, beforeAll, beforeEach, describe, expect, inject, it, vi } from "vitest"
import {
  DeliveryReceiver,
  type DeliveryReceiverOptions,
  SeenInPostgres,
  SeenInPostgresTransaction,
  signDelivery,
  type SignedContent
} from "../../src/receiver/index.ts"
import { chargeOf, deliveryUpdate, eventOf, secret } from "../samples.ts"
import { SeenDatabase } from "./SeenDatabase.ts"

let database: SeenDatabase
let table = ""
beforeAll(async () => {
  database = await SeenDatabase.open(inject("pgUrl"))
  // Without a unique constraint: a repeated effect would be stored.
  await database.pool.query("CREATE TABLE effects (id text NOT NULL)")
})
afterAll(() => database.close())
beforeEach(async () => {
  table = await database.table()
  await database.pool.query("TRUNCATE effects")
})

const write = (transaction: Pick<pg.PoolClient, "query">, id: string) => transaction.query("INSERT INTO effects VALUES ($1)", [id])
const effects = async (): Promise<ReadonlyArray<string>> => (await database.pool.query("SELECT id FROM effects ORDER BY id")).rows.map(({ id }) => id)
const marks = async (): Promise<number> => (await database.pool.query(`SELECT count(*)::int AS count FROM ${table}`)).rows[0].count

/** A process of the receiver. Its handlers write each event, notification and charge. */
const processOf = (options: Partial<DeliveryReceiverOptions<pg.PoolClient>> = {}) => {
  const errors: Array<unknown> = []
  const receiver = new DeliveryReceiver({
    secrets: secret,
    seen: SeenInPostgresTransaction.ofPool(database.pool, { table }),
    onEvents: async (events, { transaction }) => {
      for (const { eventId } of events) await write(transaction, eventId)
    },
    onStatus: (_, { deliveryId, transaction }) => write(transaction, deliveryId),
    onCharges: async (charges, { transaction }) => {
      for (const { pfc } of charges) await write(transaction, pfc.uniqueID)
    },
    onError: (error) => errors.push(error),
    ...options
  })
  const post = async (deliveryId: string, content: SignedContent) => (await receiver.answer(await signDelivery({ secrets: secret, deliveryId, ...content }))).status
  return { receiver, post, errors }
}

/** A handler that waits until the test releases it. */
const gated = () => {
  const gates: Array<() => void> = []
  const begun = (count: number) => vi.waitFor(() => expect(gates).toHaveLength(count), { interval: 1 })
  const onEvents: DeliveryReceiverOptions<pg.PoolClient>["onEvents"] = async (events, { transaction }) => {
    for (const { eventId } of events) await write(transaction, eventId)
    await new Promise<void>((resolve) => gates.push(resolve))
  }
  return { gates, begun, onEvents }
}

describe("DeliveryReceiver with SeenInPostgresTransaction", () => {
  const events = [eventOf("S", 1), eventOf("S", 2)]

  it("commits ids and writes together, and handles each kind once", async () => {
    const { post } = processOf()
    for (let attempt = 0; attempt < 3; attempt++) {
      expect(await post("D1", { events })).toBe(200)
      expect(await post("N1", { status: deliveryUpdate })).toBe(200)
      expect(await post("W1", { charges: [chargeOf("B1", 1)] })).toBe(200)
    }
    expect(await effects()).toEqual(["B1", "N1", "S-1", "S-2"])
    expect(await marks()).toBe(5)
  })

  it("passes on only new events of a delivery that overlaps with earlier ones", async () => {
    const { post, receiver } = processOf()
    await post("D1", { events })
    const overlapping = await signDelivery({ secrets: secret, deliveryId: "D2", events: [...events, eventOf("S", 3)] })
    expect(await receiver.receive(overlapping)).toEqual({ deliveryId: "D2", handled: 1, duplicates: 2 })
    expect(await receiver.receive(overlapping)).toEqual({ deliveryId: "D2", handled: 0, duplicates: 3 })
    expect(await effects()).toEqual(["S-1", "S-2", "S-3"])
  })

  it("rolls back ids and writes together when the handler fails, and handles the retry", async () => {
    const failing = processOf({
      onEvents: async (_, { transaction }) => {
        await write(transaction, "half")
        throw new Error("no")
      }
    })
    expect(await failing.post("D1", { events })).toBe(500)
    expect(failing.errors).toEqual([new Error("no")])
    expect([await effects(), await marks()]).toEqual([[], 0])
    expect(await processOf().post("D1", { events })).toBe(200)
    expect(await effects()).toEqual(["S-1", "S-2"])
  })

  it("answers 500 when the handler ignores an error of Postgres, because COMMIT would roll back in silence", async () => {
    const careless = processOf({
      onEvents: async (_, { transaction }) => {
        await write(transaction, "lost")
        await transaction.query("SELECT 1 / 0").catch(() => {})
      }
    })
    expect(await careless.post("D1", { events })).toBe(500)
    expect(careless.errors).toEqual([expect.objectContaining({ code: "25P02" })])
    expect([await effects(), await marks()]).toEqual([[], 0])
  })

  it("answers 500 when COMMIT fails", async () => {
    await database.pool.query("CREATE TABLE deferred (id text UNIQUE DEFERRABLE INITIALLY DEFERRED)")
    const repeating = processOf({ onEvents: (_, { transaction }) => transaction.query("INSERT INTO deferred VALUES ('a'), ('a')") })
    expect(await repeating.post("D1", { events })).toBe(500)
    expect(await marks()).toBe(0)
  })

  it("answers 503 while another process handles the same delivery, without waiting for it", async () => {
    const { begun, gates, onEvents } = gated()
    const first = processOf({ onEvents }).post("D1", { events })
    await begun(1)
    for (let attempt = 0; attempt < 3; attempt++) expect(await processOf().post("D1", { events })).toBe(503)
    expect(await processOf().post("D2", { events: [eventOf("T", 1)] })).toBe(200)
    gates[0]!()
    expect(await first).toBe(200)
    expect(await processOf().post("D1", { events })).toBe(200)
    expect(await effects()).toEqual(["S-1", "S-2", "T-1"])
  })

  it("lets a delivery with an event of another one wait until that is committed or rolled back", async () => {
    for (const [prefix, isCommitted] of [["A", true], ["B", false]] as const) {
      const { begun, gates, onEvents } = gated()
      const first = processOf({
        onEvents: async (...given) => {
          await onEvents!(...given)
          if (!isCommitted) throw new Error("no")
        }
      }).post(`${prefix}1`, { events: [eventOf(prefix, 1)] })
      await begun(1)
      const second = processOf().post(`${prefix}2`, { events: [eventOf(prefix, 1), eventOf(prefix, 2)] })
      const waiting = () => database.pool.query("SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'")
      await vi.waitFor(async () => expect((await waiting()).rowCount).toBe(1), { interval: 5 })
      gates[0]!()
      expect([await first, await second]).toEqual([isCommitted ? 200 : 500, 200])
    }
    expect(await effects()).toEqual(["A-1", "A-2", "B-1", "B-2"])
  })

  it("answers 500 when the connection is lost while the handler runs, and handles the retry", async () => {
    const { begun, gates, onEvents } = gated()
    let pid = 0
    const broken = processOf({
      onEvents: async (given, context) => {
        pid = (await context.transaction.query("SELECT pg_backend_pid() AS pid")).rows[0].pid
        await onEvents!(given, context)
      }
    })
    const first = broken.post("D1", { events })
    await begun(1)
    await database.pool.query("SELECT pg_terminate_backend($1)", [pid])
    await vi.waitFor(async () => expect((await database.pool.query("SELECT FROM pg_stat_activity WHERE pid = $1", [pid])).rowCount).toBe(0), { interval: 5 })
    gates[0]!()
    expect(await first).toBe(500)
    expect(await processOf().post("D1", { events })).toBe(200)
    expect(await effects()).toEqual(["S-1", "S-2"])
  })

  it("answers 500 when no connection can be had, and when the table is missing", async () => {
    const seen = SeenInPostgresTransaction.ofPool(database.pool, { table: "nowhere" })
    expect(await processOf({ seen }).post("D1", { events })).toBe(500)
    const away = new pg.Pool({ host: "127.0.0.1", port: 1 })
    expect(await processOf({ seen: SeenInPostgresTransaction.ofPool(away) }).post("D1", { events })).toBe(500)
    await away.end()
    expect(database.pool.waitingCount + database.pool.totalCount - database.pool.idleCount).toBe(0)
  })

  it("treats a claim of SeenInPostgres on the same table as in progress, and its mark as seen", async () => {
    const beside = new SeenInPostgres(database.pool, { table })
    const claim = { token: "1", seconds: 60 }
    await beside.claim(["0::delivery:D1"], claim)
    expect(await processOf().post("D1", { events })).toBe(503)
    await beside.markSeen(["0::delivery:D1"], claim)
    expect(await processOf().post("D1", { events })).toBe(200)
    expect(await effects()).toEqual([])
  })

  it("handles a delivery again after keepDays, and removes expired ids", async () => {
    const seen = SeenInPostgresTransaction.ofPool(database.pool, { table, keepDays: 1 })
    const { post } = processOf({ seen })
    await post("D1", { events })
    await post("N1", { status: deliveryUpdate })
    await database.advance(table, 86_400_000)
    expect(await post("D1", { events })).toBe(200)
    expect(await effects()).toEqual(["N1", "S-1", "S-1", "S-2", "S-2"])
    expect(await marks()).toBe(3)
  })

  it("takes the transactions of a query builder", async () => {
    const db = new Kysely<{ effects: { id: string } }>({ dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: database.url }) }) })
    const receiver = new DeliveryReceiver({
      secrets: secret,
      seen: new SeenInPostgresTransaction({
        begin: (work: (transaction: typeof db) => Promise<void>) => db.transaction().execute(work),
        query: (transaction, text, values) => transaction.executeQuery(CompiledQuery.raw(text, values))
      }, { table }),
      onEvents: async (given, { transaction }) => {
        await transaction.insertInto("effects").values(given.map(({ eventId }) => ({ id: eventId }))).execute()
        if (given.length === 1) throw new Error("no")
      },
      onError: () => {}
    })
    const post = async (deliveryId: string, given: typeof events) => (await receiver.answer(await signDelivery({ secrets: secret, deliveryId, events: given }))).status
    expect([await post("D1", events), await post("D1", events), await post("D2", [eventOf("S", 3)])]).toEqual([200, 200, 500])
    expect(await effects()).toEqual(["S-1", "S-2"])
    await db.destroy()
  })

  it("has each effect exactly once, whatever handlers, connections and attempts do", async () => {
    const met = { failed: 0, inProgress: 0, lost: 0 }
    await forRandom(3, async (random) => {
      await database.pool.query(`TRUNCATE effects, ${table}`)
      const all = Array.from({ length: 40 }, (_, index) => eventOf(`S${index % 7}`, index))
      // Some deliveries share events, as replays do.
      const deliveries = Array.from({ length: 24 }, (_, index) => ({
        deliveryId: `D${index}`,
        events: index < 20 ? all.slice(index * 2, index * 2 + 2) : random.shuffle(all).slice(0, 8)
      }))
      const open = new Set(deliveries)
      for (let round = 0; open.size > 0; round++) {
        expect(round, "rounds").toBeLessThan(60)
        const wave = random.shuffle([...open, ...open, ...deliveries.filter(() => random.share(0.2))]).slice(0, 12)
        const statuses = await Promise.all(wave.map(({ deliveryId, events: given }) => faultyProcess(random, round < 20, met).post(deliveryId, { events: given })))
        for (const [index, status] of statuses.entries()) {
          expect([200, 500, 503]).toContain(status)
          if (status === 500) met.failed += 1
          if (status === 503) met.inProgress += 1
          // An acknowledgement may be lost.
          if (status === 200 && random.share(0.8)) open.delete(wave[index]!)
        }
      }
      expect(await effects()).toEqual(all.map(({ eventId }) => eventId).toSorted())
    })
    if (process.env["WAYBILL_SEED"] === undefined) for (const count of Object.values(met)) expect(count).toBeGreaterThan(5)
  })
})

/** A process whose handler may fail or lose its connection after some of its writes. */
const faultyProcess = (random: SeededRandom, hasFaults: boolean, met: { lost: number }) => {
  const fault = hasFaults ? random.pick(["none", "none", "fails", "loses its connection"]) : "none"
  return processOf({
    onEvents: async (events, { transaction }) => {
      for (const { eventId } of events) await write(transaction, eventId)
      if (fault === "fails") throw new Error("no")
      if (fault !== "loses its connection") return
      met.lost += 1
      await transaction.query("SELECT pg_terminate_backend(pg_backend_pid())").catch(() => {})
    }
  })
}
