/** A claim looks, and then locks what it found. What others write in between must not be taken for seen. */
import { layer } from "@effect/vitest"
import { DeliveryQueue } from "@waybill/core"
import { fixtures } from "@waybill/testkit/suites"
import { Effect, Fiber } from "effect"
import { assert } from "vitest"
import { PgClient } from "../../src/index.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"
import { holding, somebodyWaits } from "./Holding.ts"

const { claim, claimOne, freezeOf, freshTenant, idOf, letSee, publish, releaseOf, seed, settlementOf, subscribe } = fixtures

const schema = freshSchema()

/** Puts a turnstile in front of the arrivals: the first statement that reads them after a restart of the turns waits there for a lock. */
const turnstile = `
DO $$ BEGIN
  IF to_regclass('"${schema}".turns') IS NULL THEN
    CREATE SEQUENCE "${schema}".turns;
    CREATE FUNCTION "${schema}".turnstile() RETURNS boolean LANGUAGE plpgsql AS $turnstile$ BEGIN
      IF nextval('"${schema}".turns') = 1 THEN PERFORM pg_advisory_xact_lock_shared(hashtext('${schema}')); END IF;
      RETURN true;
    END $turnstile$;
    ALTER TABLE "${schema}".delivery_arrivals RENAME TO arrivals_behind_turnstile;
    CREATE VIEW "${schema}".delivery_arrivals AS SELECT * FROM "${schema}".arrivals_behind_turnstile WHERE "${schema}".turnstile();
  END IF;
END $$;
ALTER SEQUENCE "${schema}".turns RESTART`

/** The next claim looks and does not come to lock what it found, until what this answers is run. Other claims pass. */
const haltNextClaim = Effect.gen(function*() {
  const sql = yield* PgClient.PgClient
  yield* sql.unsafe(turnstile).unprepared
  return yield* holding(sql`SELECT pg_advisory_xact_lock(hashtext(${schema}))`)
})

const handed = ({ lanes }: Effect.Success<ReturnType<typeof claim>>) =>
  lanes.map(({ laneId, waiting }) => [laneId, waiting.map(({ key, sequence }) => `${key}/${sequence}`)])

layer(testStorage(schema), { excludeTestServices: true })("a claim that crosses", (it) => {
  it.effect("a lane being given back leaves what came for it to the next claim", () =>
    Effect.gen(function*() {
      const queue = yield* DeliveryQueue
      const tenantId = freshTenant()
      yield* seed(tenantId, { S: 1 })
      const first = yield* claimOne(tenantId)
      yield* queue.freeze(tenantId, [freezeOf(first, { deliveryId: idOf(101) })])
      yield* publish(tenantId, [{ shipmentId: "S" }])
      const letGo = yield* haltNextClaim
      const crossing = yield* Effect.forkChild(claim(tenantId))
      yield* somebodyWaits
      // the claim has seen that S is under way, and that something arrived
      yield* queue.settle(tenantId, { deliveries: [settlementOf(first, idOf(101))], lanes: [releaseOf(first)] })
      yield* letGo
      const crossed = yield* Fiber.join(crossing)
      assert.deepStrictEqual([handed(crossed), crossed.crossed], [[], true])
      const next = yield* claim(tenantId)
      assert.deepStrictEqual([handed(next), next.crossed], [[[idOf(1), ["S/2"]]], false])
    }))

  it.effect("somebody who notes an arrival for the lane it refills does not call it known", () =>
    Effect.gen(function*() {
      const queue = yield* DeliveryQueue
      const tenantId = freshTenant()
      yield* letSee(tenantId, "client", ["A"])
      yield* subscribe(tenantId, { n: 1, shipmentIds: ["S"] })
      yield* subscribe(tenantId, { n: 2, shipmentIds: ["T"] })
      yield* publish(tenantId, [{ shipmentId: "S" }], { accounts: ["A"] })
      const held = yield* claimOne(tenantId)
      yield* queue.freeze(tenantId, [freezeOf(held, { deliveryId: idOf(101) })])
      yield* queue.settle(tenantId, { deliveries: [settlementOf(held, idOf(101))], lanes: [] })
      yield* publish(tenantId, [{ shipmentId: "T" }], { accounts: ["A"] })
      const letGo = yield* haltNextClaim
      const crossing = yield* Effect.forkChild(claim(tenantId, { maxLanes: 0, refill: [held] }))
      yield* somebodyWaits
      yield* publish(tenantId, [{ shipmentId: "S" }])
      assert.deepStrictEqual(handed(yield* claim(tenantId)), [[idOf(2), ["T/1"]]])
      yield* letGo
      const { lanes: [refilled] } = yield* Fiber.join(crossing)
      // given back as one who has nothing to do with it any more
      yield* queue.settle(tenantId, { deliveries: [], lanes: [releaseOf(refilled ?? held, { progress: false })] })
      assert.deepStrictEqual(handed(yield* claim(tenantId)), [[idOf(1), ["S/2"]]])
    }))
})
