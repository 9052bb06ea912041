/** Lookups on a real standby: no lookup misses what was committed before it, and a standby in trouble fails none. */
import { layer } from "@effect/vitest"
import {
  ChargeSubscriptionStoreSuite,
  DocumentStoreSuite,
  InvoiceStoreSuite,
  PickupStoreSuite,
  ShipmentStatusStoreSuite,
  TransitEventStoreSuite
} from "@waybill/conformance/suites"
import { type StoragePorts, Transaction } from "@waybill/core"
import { ShipmentStatusStore } from "@waybill/core/shipment-status"
import { TransitEventStore } from "@waybill/core/transit-events"
import { Deferred, Effect, Fiber, Layer, Logger, Metric, Redacted } from "effect"
import pg from "pg"
import { afterAll, assert, beforeAll, describe, inject } from "vitest"
import { PgClient, ReadReplica, StoragePostgres } from "../../src/index.ts"
import { eventually } from "../client/database.ts"
import { freshSchema } from "../TestStorage.ts"
import { type ReplicatedPostgres, startReplicatedPostgres } from "./ReplicatedPostgres.ts"

let servers: ReplicatedPostgres

const schema = freshSchema()

/** One process: its pools on both servers. `log` gets the messages of the replica. */
const processOn = (log: Array<string> = []) =>
  Layer.unwrap(Effect.sync(() => {
    const primary = PgClient.layer({ url: Redacted.make(servers.primary.url), maxConnections: 6 })
    const replica = ReadReplica.layer({ url: Redacted.make(servers.standby.url), maxConnections: 4 })
    const heard = Logger.layer([Logger.make(({ message }) => void log.push([message].flat().join(" ")))])
    return Layer.fresh(StoragePostgres.layer({ schema }).pipe(Layer.provideMerge(replica), Layer.provideMerge(primary), Layer.provide(heard)))
  }))

const status = Effect.flatMap(ReadReplica, (replica) => replica!.status)
const untilUsed = eventually(Effect.map(status, ({ isUsed }) => isUsed))
const untilNotUsed = eventually(Effect.map(status, ({ isUsed }) => !isUsed))

const answered = (server: "primary" | "replica") =>
  Effect.map(
    Metric.value(Metric.withAttributes(Metric.counter("waybill_replica_lookups_total", {
      description: "Lookups with a read replica configured, by the server that answered.",
      incremental: true
    }), { server })),
    ({ count }) => count
  )

/** The result of a lookup, and which server answered it. */
const observed = <A, E, R>(lookup: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const before = yield* answered("replica")
    const result = yield* lookup
    return { result, server: (yield* answered("replica")) > before ? "replica" as const : "primary" as const }
  })

/** The result of a lookup once the replica answers it: on a busy machine it may be too slow for some. */
const fromReplica = <A, E, R>(lookup: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.repeat(observed(lookup), { until: ({ server }) => server === "replica" }), ({ result }) => result)

const onStandby = (text: string) =>
  Effect.promise(async () => {
    const client = new pg.Client(servers.standby.url)
    await client.connect()
    await client.query(text)
    await client.end()
  })

const bytes = (text: string) => new TextEncoder().encode(text)

const putStatus = (shipmentId: string, verified: string) =>
  Effect.flatMap(Effect.all([Transaction, ShipmentStatusStore]), ([transaction, store]) =>
    transaction.run(Effect.andThen(
      store.lock("t", [{ shipmentId, accounts: ["A"] }]),
      store.write("t", {
        statuses: [{ shipmentId, state: "{}", verified: bytes(verified), public: bytes("public"), covered: true, pickupAt: 0, deliveredAt: undefined, keys: [`pro ${shipmentId}`], references: undefined }],
        history: [],
        notices: [],
        traceparent: undefined
      })
    )))

const lookUp = (shipmentId: string) =>
  Effect.flatMap(ShipmentStatusStore, (store) => store.find("t", [{ key: `pro ${shipmentId}`, own: "all" }])).pipe(
    Effect.map(([found]) => found?.own === true ? new TextDecoder().decode(found.verified) : undefined)
  )

const appendEvent = (shipmentId: string) =>
  Effect.flatMap(TransitEventStore, (store) =>
    Effect.andThen(
      store.allocate("t", [{ shipmentId, needed: 1, highestGiven: 0, accounts: ["A"] }]),
      store.append("t", [{ eventId: `event ${shipmentId}`, shipmentId, sequence: 1, body: bytes("{}"), type: "PICKED_UP", typeBit: 4, occurredAt: 0 }], undefined)
    ))

const page = (parts: { readonly snapshot?: string; readonly skip?: number } = {}) =>
  Effect.flatMap(TransitEventStore, (store) =>
    store.page({
      tenantId: "t",
      visibility: { _tag: "All" },
      filter: { order: "asc", shipmentId: undefined, eventTypes: undefined, occurredFrom: undefined, occurredTo: undefined },
      snapshot: parts.snapshot,
      after: undefined,
      skip: parts.skip ?? 0,
      limit: 1,
      count: true
    }))

const idsOf = ({ rows }: { readonly rows: ReadonlyArray<{ readonly shipmentId: string }> }) => rows.map(({ shipmentId }) => shipmentId)

describe.skipIf(inject("pgPrograms") === null)("with a read replica", () => {
  beforeAll(async () => {
    servers = await startReplicatedPostgres()
  })
  afterAll(() => servers?.stop())

  for (const { suite } of [ShipmentStatusStoreSuite, TransitEventStoreSuite, InvoiceStoreSuite, DocumentStoreSuite, PickupStoreSuite, ChargeSubscriptionStoreSuite]) {
    suite("Postgres with a read replica", Layer.effectDiscard(untilUsed).pipe(Layer.provideMerge(processOn())) as Layer.Layer<StoragePorts, unknown>)
  }

  const log: Array<string> = []
  layer(processOn(log), { excludeTestServices: true })("a process", (it) => {
    it.effect("sees a write of another process in the next lookup, which the replica answers", Effect.fnUntraced(function*() {
      yield* untilUsed
      const other = yield* Layer.build(processOn())
      let isServed = false
      for (let n = 0; n < 40 || !isServed; n++) {
        yield* Effect.provideContext(putStatus("S-1", `status ${n}`), other)
        const { result, server } = yield* observed(lookUp("S-1"))
        assert.strictEqual(result, `status ${n}`)
        isServed ||= server === "replica"
      }
    }, Effect.scoped))

    it.effect("reads its own writes inside of a transaction", Effect.fnUntraced(function*() {
      yield* untilUsed
      const transaction = yield* Transaction
      const seen = yield* transaction.run(Effect.andThen(putStatus("S-2", "not committed"), observed(lookUp("S-2"))))
      assert.deepEqual(seen, { result: "not committed", server: "primary" })
    }))

    it.effect("pages through the log as of the first page, although an earlier transaction commits in between", Effect.fnUntraced(function*() {
      yield* untilUsed
      const transaction = yield* Transaction
      const [isWritten, mayCommit] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const earlier = yield* Effect.forkChild(transaction.run(
        appendEvent("B").pipe(Effect.andThen(Deferred.succeed(isWritten, undefined)), Effect.andThen(Deferred.await(mayCommit)))
      ))
      yield* Deferred.await(isWritten)
      yield* transaction.run(appendEvent("A"))
      const first = yield* fromReplica(page())
      assert.deepEqual([idsOf(first), first.totalCount], [["A"], 1])
      yield* Deferred.succeed(mayCommit, undefined)
      yield* Fiber.join(earlier)
      assert.deepEqual(idsOf(yield* page({ snapshot: first.snapshot, skip: 1 })), [])
      assert.deepEqual(idsOf(yield* page({ skip: 1 })), ["B"])
    }))

    it.effect("asks the primary while the replica lags, and uses the replica again when it has caught up", Effect.fnUntraced(function*() {
      yield* untilUsed
      yield* onStandby("SELECT pg_wal_replay_pause()")
      log.length = 0
      yield* putStatus("S-3", "new")
      assert.deepEqual(yield* observed(lookUp("S-3")), { result: "new", server: "primary" })
      yield* untilNotUsed
      assert.deepEqual(yield* observed(lookUp("S-3")), { result: "new", server: "primary" })
      assert.strictEqual((yield* status).reason, "it is more than a second behind")
      yield* onStandby("SELECT pg_wal_replay_resume()")
      yield* untilUsed
      assert.strictEqual(yield* fromReplica(lookUp("S-3")), "new")
      assert.deepEqual(log, ["Read replica not in use: it is more than a second behind. The primary answers lookups.", "Read replica in use."])
    }))

    it.effect("answers while the replica does not answer", Effect.fnUntraced(function*() {
      yield* untilUsed
      yield* putStatus("S-4", "new")
      const unfreeze = servers.standby.freeze()
      yield* Effect.ensuring(
        Effect.gen(function*() {
          for (let n = 0; n < 3; n++) assert.deepEqual(yield* observed(lookUp("S-4")), { result: "new", server: "primary" })
          yield* untilNotUsed
        }),
        Effect.sync(unfreeze)
      )
      yield* untilUsed
      assert.strictEqual(yield* fromReplica(lookUp("S-4")), "new")
    }))

    it.effect("answers while the replica is gone, and uses it when it is back", Effect.fnUntraced(function*() {
      yield* untilUsed
      yield* putStatus("S-5", "new")
      log.length = 0
      yield* Effect.promise(servers.standby.stop)
      for (let n = 0; n < 3; n++) assert.deepEqual(yield* observed(lookUp("S-5")), { result: "new", server: "primary" })
      yield* untilNotUsed
      assert.match(log.join("\n"), /^Read replica not in use: .*\. The primary answers lookups\.$/)
      yield* putStatus("S-5", "newer")
      yield* Effect.promise(servers.standby.start)
      yield* untilUsed
      assert.strictEqual(yield* lookUp("S-5"), "newer")
    }))
  })

  layer(Layer.empty, { excludeTestServices: true })("an address", (it) => {
    const reasonFor = (url: string) =>
      Effect.gen(function*() {
        yield* eventually(Effect.map(status, ({ reason }) => reason !== "it was not checked yet"))
        return (yield* status).reason
      }).pipe(
        Effect.provide(ReadReplica.layer({ url: Redacted.make(url) }).pipe(Layer.provide(PgClient.layer({ url: Redacted.make(servers.primary.url), maxConnections: 2 }))))
      )

    it.effect("of the primary, of another database or of another cluster is not used", Effect.fnUntraced(function*() {
      assert.strictEqual(yield* reasonFor(servers.primary.url), "it is no standby")
      assert.strictEqual(
        yield* reasonFor(servers.standby.url.replace(/postgres$/, "template1")),
        "its address leads to the database template1, and the primary's to postgres"
      )
      assert.strictEqual(yield* reasonFor(inject("pgUrl")), "its address leads to another database cluster")
    }))
  })
})
