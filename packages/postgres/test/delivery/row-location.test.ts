/** A freeze finds entries by the row location that the claim read. If the table was rewritten, another row may be there. */
import { layer } from "@effect/vitest"
import { type ClaimedDestination, DeliveryQueue } from "@waybill/core"
import { fixtures } from "@waybill/testkit/suites"
import { Effect, Exit } from "effect"
import { assert } from "vitest"
import { PgClient } from "../../src/index.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"

const { claim, claimOne, freezeOf, freshTenant, idOf, occurredAt, seed } = fixtures

const schema = freshSchema()

const freezing = (tenantId: string, destination: ClaimedDestination, number: number, entries: ClaimedDestination["waiting"]) =>
  Effect.flatMap(DeliveryQueue, (queue) =>
    queue.freeze(tenantId, [freezeOf(destination, { fresh: [{ deliveryId: idOf(number), sentAt: occurredAt, entries, traceparent: undefined }] })]))

const keysOf = ({ waiting }: ClaimedDestination) => waiting.map(({ key }) => key)

layer(testStorage(schema), { excludeTestServices: true })("entries that moved since they were claimed", (it) => {
  it.effect("are frozen after the next claim, and not before", () =>
    Effect.gen(function*() {
      const sql = yield* PgClient.PgClient
      const tenantId = freshTenant()
      yield* seed(tenantId, { A: 1, B: 1, C: 1 })
      const destination = yield* claimOne(tenantId)
      assert.deepStrictEqual([...yield* freezing(tenantId, destination, 101, destination.waiting.slice(0, 1))], [destination.destinationId])
      // the rewrite moves the other rows up. VACUUM FULL would keep the deleted row while a transaction of another test can see it
      yield* sql.unsafe(`ALTER TABLE "${schema}".delivery_entries ALTER COLUMN tenant_id TYPE text COLLATE "C" USING tenant_id || ''`).unprepared
      assert.isTrue(Exit.isFailure(yield* Effect.exit(freezing(tenantId, destination, 102, destination.waiting.slice(1)))))
      const [refilled] = (yield* claim(tenantId, { maxDestinations: 0, refill: [destination] })).destinations
      assert.deepStrictEqual(keysOf(refilled!), ["B", "C"])
      assert.deepStrictEqual([...yield* freezing(tenantId, refilled!, 103, refilled!.waiting)], [destination.destinationId])
      assert.lengthOf(yield* sql.unsafe(`SELECT 1 AS one FROM "${schema}".delivery_entries WHERE tenant_id = '${tenantId}'`), 0)
    }))

  it.effect("fail the freeze, and the rows now at their locations stay", () =>
    Effect.gen(function*() {
      const sql = yield* PgClient.PgClient
      const tenantId = freshTenant()
      yield* seed(tenantId, { A: 1, B: 1 })
      const destination = yield* claimOne(tenantId)
      // the location of A now has B
      const [, second] = destination.waiting
      const wrong = { ...destination.waiting[0]!, spot: second!.spot! }
      assert.isTrue(Exit.isFailure(yield* Effect.exit(freezing(tenantId, destination, 101, [wrong]))))
      assert.lengthOf(yield* sql.unsafe(`SELECT 1 AS one FROM "${schema}".delivery_entries WHERE tenant_id = '${tenantId}'`), 2)
    }))
})
