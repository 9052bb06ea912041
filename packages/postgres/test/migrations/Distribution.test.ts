import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { assert } from "vitest"
import { PgClient } from "../../src/client/PgClient.ts"
import { bool } from "../../src/client/SqlRow.ts"
import { raw } from "../../src/client/SqlStatement.ts"
import { DistributionRefused, isDistributed } from "../../src/index.ts"
import { distribute, distributeMissing, hasWorkers, lacksDistribution } from "../../src/migrations/Distribution.ts"
import { migrations } from "../../src/migrations/index.ts"
import { migrate } from "../../src/migrations/Migrations.ts"
import { freshSchema, pgLayer } from "../TestStorage.ts"

layer(pgLayer, { excludeTestServices: true })("distribution without Citus", (it) => {
  it.effect("is refused, and missing only where it is wanted", Effect.fnUntraced(function*() {
    const schema = freshSchema()
    yield* migrate({ schema, migrations })
    const refused = yield* Effect.flip(distribute(schema))
    assert.instanceOf(refused, DistributionRefused)
    assert.include(refused.message, "CREATE EXTENSION citus")
    assert.isFalse(yield* isDistributed(schema))
    assert.deepEqual([yield* lacksDistribution(schema, true), yield* lacksDistribution(schema, false)], [true, false])
    assert.isFalse(yield* distributeMissing(schema, false))
    assert.instanceOf(yield* Effect.flip(distributeMissing(schema, true)), DistributionRefused)
  }))

  it.effect("counts workers that are alive, and none that was killed before the database's clock was set back", Effect.fnUntraced(function*() {
    const schema = freshSchema()
    yield* migrate({ schema, migrations })
    const sql = yield* PgClient
    const hasWorkersOnce = (aliveIn: string) =>
      Effect.andThen(
        sql.run(raw(`INSERT INTO "${schema}".delivery_workers (worker_id, alive_until, lease) VALUES ('${aliveIn}', now() + interval '${aliveIn}', '20 seconds')`)),
        sql.one(bool, hasWorkers(schema))
      )
    assert.isFalse(yield* hasWorkersOnce("-1 second"))
    assert.isFalse(yield* hasWorkersOnce("3 hours"))
    assert.isTrue(yield* hasWorkersOnce("20 seconds"))
  }))
})
