/** What is stored with times of the database's clock, once that clock was set back. Also run on Citus, where nothing else sends these statements. */
import { layer } from "@effect/vitest"
import { AccessStore, MailStore } from "@waybill/core"
import { DeliveryStore } from "@waybill/core/delivery"
import { fixtures } from "@waybill/conformance/suites"
import { Effect } from "effect"
import { assert } from "vitest"
import { rowsIn } from "./TestService.ts"
import { testStorage, type TestStorageOptions } from "./TestStorage.ts"

const lease = (workerId: string) => ({ workerId, leaseMillis: 60_000 })

export const leasesSetBack = (schema: string, options: TestStorageOptions = {}): void => {
  const rows = rowsIn(schema)

  /** As if the database's clock had been set back by an hour since the worker's renewal just now. */
  const setBack = ({ leaseMillis, workerId }: ReturnType<typeof lease>) => {
    const values = [workerId, 3600 + leaseMillis / 1000]
    return Effect.andThen(
      rows("UPDATE @delivery_leases SET leased_until = now() + make_interval(secs => $2::float8) WHERE worker_id = $1", values),
      rows("UPDATE @delivery_workers SET alive_until = now() + make_interval(secs => $2::float8) WHERE worker_id = $1", values)
    )
  }

  layer(testStorage(schema, options), { excludeTestServices: true })("a lease that lies an hour ahead since the database's clock was set back", (it) => {
    const [before, other] = [{ workerId: "before", leaseMillis: 1000 }, lease("other")]
    const partitionsOf = (found: ReadonlyArray<{ readonly tenantId: string; readonly partition: number }>, tenantId: string) =>
      found.flatMap((each) => each.tenantId === tenantId ? [each.partition] : []).sort()

    it.effect("of a killed worker ends in one lease, from the next renewal of any worker on", () =>
      Effect.gen(function*() {
        const store = yield* DeliveryStore
        const tenantId = fixtures.freshTenant()
        const { workers } = yield* store.renew(other)
        yield* store.renew(before)
        yield* store.acquire(before, tenantId, [1, 2])
        const long = { workerId: "long", leaseMillis: 600_000 }
        yield* store.acquire(long, tenantId, [3])
        for (const each of [before, long]) yield* setBack(each)
        assert.strictEqual((yield* store.renew(other)).workers, workers, "the killed worker is not alive")
        const found = yield* fixtures.eventually(store.look("other", 1000), ({ free }) => partitionsOf(free, tenantId).length > 0)
        assert.deepStrictEqual(partitionsOf(found.free, tenantId), [1, 2])
        assert.lengthOf((yield* store.acquire(other, tenantId, [1, 2])).partitions, 2)
      }))

    it.effect("of a worker that is alive stays its own, until the worker renews it", () =>
      Effect.gen(function*() {
        const store = yield* DeliveryStore
        const tenantId = fixtures.freshTenant()
        const alive = lease("alive")
        yield* store.acquire(alive, tenantId, [1, 2])
        yield* setBack(alive)
        yield* store.renew(other)
        assert.lengthOf((yield* store.acquire(other, tenantId, [1, 2])).partitions, 0)
        assert.deepStrictEqual(partitionsOf((yield* store.renew(alive)).owned, tenantId), [1, 2])
        assert.lengthOf((yield* store.acquire(other, tenantId, [1, 2])).partitions, 0)
      }))
  })
}

export const mailsSetBack = (schema: string, options: TestStorageOptions = {}): void => {
  const rows = rowsIn(schema)

  layer(testStorage(schema, options), { excludeTestServices: true })("a mail, once the database's clock was set back by three hours,", (it) => {
    const mail = { to: "edi@shipper.example", subject: "Subject", text: "Text" }
    const minute = 60_000

    const tenantOnceSetBack = Effect.fnUntraced(function*(leaseMillis: number) {
      const store = yield* MailStore
      const tenantId = fixtures.freshTenant()
      yield* Effect.flatMap(AccessStore, (access) => access.putTenant({ tenantId, name: "Acme", hosts: [] }))
      for (const id of ["taken", "waiting"]) {
        yield* store.put(tenantId, "key:shop", { ...mail, id })
        if (id === "taken") yield* store.take(tenantId, 1, leaseMillis)
      }
      yield* rows(
        `WITH later AS (
           SELECT id, due_at + interval '3 hours' AS due_at, scheduled_at + interval '3 hours' AS scheduled_at FROM @mails WHERE tenant_id = $1
         )
         UPDATE @mails AS m SET due_at = l.due_at, scheduled_at = l.scheduled_at FROM later AS l WHERE m.tenant_id = $1 AND m.id = l.id`,
        [tenantId]
      )
      return { store, tenantId }
    })

    it.effect("is found, and is due after the time that it was given", () =>
      Effect.gen(function*() {
        const { store, tenantId } = yield* tenantOnceSetBack(10)
        assert.include(yield* store.tenants({ after: undefined, limit: 1000 }), tenantId)
        assert.deepStrictEqual(yield* store.take(tenantId, 5, minute), [])
        const found = yield* fixtures.eventually(store.take(tenantId, 1, minute), (mails) => mails.length > 0)
        const others = yield* fixtures.eventually(store.take(tenantId, 1, minute), (mails) => mails.length > 0)
        assert.deepStrictEqual([...found, ...others].map(({ id }) => id).sort(), ["taken", "waiting"])
        assert.notInclude(yield* store.tenants({ after: undefined, limit: 1000 }), tenantId)
      }))

    it.effect("is not taken from a process that sends it", () =>
      Effect.gen(function*() {
        const { store, tenantId } = yield* tenantOnceSetBack(minute)
        yield* store.take(tenantId, 5, minute)
        assert.deepStrictEqual((yield* store.take(tenantId, 5, minute)).map(({ id }) => id), ["waiting"])
        assert.notInclude(yield* store.tenants({ after: undefined, limit: 1000 }), tenantId)
      }))
  })
}
