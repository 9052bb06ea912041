/** A database restored into another cluster, whose transaction ids are lower than those in its rows. */
import { storageAdapter, type StoragePorts, Transaction } from "@waybill/core"
import { TransitEventStore } from "@waybill/core/transit-events"
import { Effect, type Layer } from "effect"
import pg from "pg"
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest"
import { postgresStorage } from "../../src/index.ts"
import { freshSchema } from "../TestStorage.ts"

describe("a database from another cluster", () => {
  const schema = freshSchema()
  let pool: pg.Pool

  beforeAll(() => {
    pool = new pg.Pool({ connectionString: inject("pgUrl"), max: 3 })
  })

  afterAll(async () => {
    await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)
    await pool.end()
  })

  const opened = <A, E>(migrate: boolean, effect: Effect.Effect<A, E, StoragePorts>): Promise<A> => {
    const { layer } = storageAdapter(postgresStorage({ pool, schema, migrate }))!
    return Effect.runPromise(Effect.provide(effect, layer as Layer.Layer<StoragePorts, unknown>))
  }

  const append = (sequence: number) =>
    Effect.gen(function*() {
      const store = yield* TransitEventStore
      const transaction = yield* Transaction
      const eventId = `E${sequence}`
      yield* transaction.run(Effect.gen(function*() {
        yield* store.allocate("t", [{ shipmentId: "S", needed: 0, highestGiven: sequence, accounts: ["A"] }])
        const body = new TextEncoder().encode(JSON.stringify({ eventId }))
        yield* store.append("t", [{ eventId, shipmentId: "S", sequence, body, type: "PICKED_UP", typeBit: 4, occurredAt: 0 }], undefined)
      }))
    })

  /** A second page: limited to what its first page saw. */
  const secondPage = Effect.gen(function*() {
    const store = yield* TransitEventStore
    const filter = { shipmentId: undefined, eventTypes: undefined, occurredFrom: undefined, occurredTo: undefined, order: "asc" } as const
    const request = { tenantId: "t", visibility: { _tag: "All" }, filter, skip: 0, limit: 1, count: false } as const
    const first = yield* store.page({ ...request, snapshot: undefined, after: undefined })
    const second = yield* store.page({ ...request, snapshot: first.snapshot, after: first.rows[0]! })
    return second.rows.map(({ eventId }) => eventId)
  })

  /** As after `pg_dump` there and `pg_restore` here. */
  const restored = async () => {
    await pool.query(`UPDATE "${schema}".cluster SET system_identifier = '1'`)
    await pool.query(`UPDATE "${schema}".transit_events SET xid = '9000000000000000000'`)
  }

  it.each([["which migrates", true], ["which leaves migrations to the host", false]])("shows all of its events to a process %s", async (_, migrate) => {
    await pool.query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`)
    await opened(true, Effect.andThen(append(1), append(2)))
    expect(await opened(migrate, secondPage)).toEqual(["E2"])
    await restored()
    expect(await opened(migrate, secondPage)).toEqual(["E2"])
  })
})
