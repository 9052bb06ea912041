import pg from "pg"
import { afterAll, beforeAll, describe, expect, inject, it, vi } from "vitest"
import { SeenInMemory, SeenInPostgres, SeenInRedis, seenTableSql } from "../../src/receiver/index.ts"
import { RedisFake } from "./RedisFake.ts"
import { seenStoreSuite } from "./SeenStoreSuite.ts"
import { SeenDatabase } from "./SeenDatabase.ts"

const claim = (token: string) => ({ token, seconds: 10 })

seenStoreSuite("SeenInMemory", () => {
  let now = 0
  const memory = new SeenInMemory({ now: () => now })
  return { store: () => memory, advance: (millis) => (now += millis) }
})

describe("SeenInMemory", () => {
  it("keeps the newest seen ids, and never evicts a claim", async () => {
    const memory = new SeenInMemory({ capacity: 2 })
    await memory.claim(["held"], claim("1"))
    for (const id of ["a", "b", "c"]) await memory.markSeen([id], claim("2"))
    expect(await memory.claim(["a", "b", "c", "held"], claim("3"))).toEqual(["claimed", "seen", "seen", "busy"])
  })

  it("ends a claim in time although the clock was set back", async () => {
    const memory = new SeenInMemory()
    vi.useFakeTimers({ now: 3 * 3_600_000 })
    await memory.claim(["a"], claim("1"))
    vi.advanceTimersByTime(10_000)
    vi.setSystemTime(0)
    expect(await memory.claim(["a"], claim("2"))).toEqual(["claimed"])
    vi.useRealTimers()
  })

  it("refuses a capacity of 0", () => {
    for (const capacity of [0, -1, NaN]) expect(() => new SeenInMemory({ capacity })).toThrow("capacity of SeenInMemory is a number from 1, and got")
  })
})

for (const kind of ["nodeRedis", "ioredis"] as const) {
  seenStoreSuite(`SeenInRedis, with a client like ${kind},`, () => {
    const redis = new RedisFake()
    return { store: () => new SeenInRedis(redis[kind]()), advance: (millis) => redis.advance(millis) }
  })
}

describe("SeenInRedis", () => {
  it("forgets a handled id after keepDays, by itself", async () => {
    const redis = new RedisFake()
    const store = new SeenInRedis(redis.ioredis(), { keepDays: 1, prefix: "hooks:" })
    await store.markSeen(["a"], claim("1"))
    redis.advance(86_399_999)
    expect(redis.keys()).toEqual(["hooks:a"])
    redis.advance(1)
    expect(redis.keys()).toEqual([])
    expect(await store.claim(["a"], claim("1"))).toEqual(["claimed"])
  })

  it("rejects when Redis does, so that the sender retries", async () => {
    const store = new SeenInRedis({ call: () => Promise.reject(new Error("READONLY")) })
    await expect(store.claim(["a"], claim("1"))).rejects.toThrow("READONLY")
    await expect(store.markSeen(["a"], claim("1"))).rejects.toThrow("READONLY")
  })

  it("refuses a retention that is no positive number of days", () => {
    for (const keepDays of [0, -1, NaN, Infinity]) expect(() => new SeenInRedis(new RedisFake().ioredis(), { keepDays })).toThrow("keepDays of SeenInRedis is a number above 0 and up to 36500, and got")
  })
})

describe("on a Postgres", () => {
  let database: SeenDatabase
  beforeAll(async () => {
    database = await SeenDatabase.open(inject("pgUrl"))
  })
  afterAll(() => database.close())

  seenStoreSuite("SeenInPostgres", async () => {
    const table = await database.table()
    return { store: () => new SeenInPostgres(database.pool, { table }), advance: (millis) => database.advance(table, millis) }
  })

  it("SeenInPostgres removes expired ids faster than it adds others, and no others", async () => {
    const table = await database.table()
    const store = new SeenInPostgres(database.pool, { table, keepDays: 1 })
    await store.markSeen(Array.from({ length: 500 }, (_, index) => `old ${index}`), claim("1"))
    await store.claim(["died"], claim("dead"))
    await database.advance(table, 86_400_000)
    await store.claim(["held"], claim("1"))
    const rows = async () => (await database.pool.query(`SELECT id FROM ${table} WHERE id NOT LIKE 'new%' ORDER BY id`)).rows.map(({ id }) => id)
    for (let count = 0; count < 10; count++) await store.markSeen(Array.from({ length: 30 }, (_, index) => `new ${count} ${index}`), claim("2"))
    expect(await rows()).toEqual(["held"])
    expect((await database.pool.query(`SELECT count(*)::int AS count FROM ${table}`)).rows[0].count).toBe(301)
  })

  it("SeenInPostgres lets a claim last once more, and keeps handled ids, when the database's clock was set back", async () => {
    const table = await database.table()
    const store = new SeenInPostgres(database.pool, { table })
    await store.claim(["died", "other"], { token: "dead", seconds: 20 })
    await store.markSeen(["handled"], claim("1"))
    await database.advance(table, -3 * 3_600_000)
    expect(await store.claim(["died", "handled"], claim("2"))).toEqual(["busy", "seen"])
    await database.advance(table, 19_000)
    expect(await store.claim(["died"], claim("3"))).toEqual(["busy"])
    await database.advance(table, 1_000)
    expect(await store.claim(["died", "other", "handled"], claim("4"))).toEqual(["claimed", "busy", "seen"])
    await store.release(["other"], { token: "dead", seconds: 20 })
    expect(await store.claim(["other"], claim("5"))).toEqual(["claimed"])
  })

  it("seenTableSql creates a table again and again, in a schema of its own", async () => {
    await database.pool.query("CREATE SCHEMA hooks")
    for (let time = 0; time < 2; time++) await database.pool.query(seenTableSql("hooks.order"))
    const store = new SeenInPostgres(database.pool, { table: "hooks.order" })
    await store.markSeen(["a"], claim("1"))
    expect(await store.claim(["a", "b"], claim("1"))).toEqual(["seen", "claimed"])
  })

  it("refuses a name that is no plain table name", () => {
    for (const table of ["", "a.b.c", "A", "a b", "a\"", "a;", "1a", "x".repeat(64)]) {
      expect(() => seenTableSql(table)).toThrow(TypeError)
      expect(() => new SeenInPostgres(database.pool, { table })).toThrow(TypeError)
    }
  })

  it("SeenInPostgres takes any client that returns rows, in either form", async () => {
    const table = await database.table()
    const client = new pg.Client({ connectionString: database.url })
    await client.connect()
    const rowsOnly = { query: async (text: string, values: Array<string>) => (await client.query(text, values)).rows }
    expect(await new SeenInPostgres(rowsOnly, { table }).claim(["a"], claim("1"))).toEqual(["claimed"])
    expect(await new SeenInPostgres(client, { table }).claim(["a"], claim("2"))).toEqual(["busy"])
    await client.end()
  })
})
