import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { assert } from "vitest"
import { DistributionRefused, isDistributed } from "../../src/index.ts"
import { distribute, distributeMissing, lacksDistribution } from "../../src/migrations/Distribution.ts"
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
})
