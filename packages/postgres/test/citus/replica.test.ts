/** A read replica is not used on Citus. Run by `npm run citus`. */
import { layer } from "@effect/vitest"
import { Effect } from "effect"
import { assert } from "vitest"
import { PgClient, replicaRefusal } from "../../src/index.ts"
import { pgLayer } from "../TestStorage.ts"

layer(pgLayer, { excludeTestServices: true })("a read replica", (it) => {
  it.effect("is not used by a database that has the extension", Effect.fnUntraced(function*() {
    const sql = yield* PgClient.PgClient
    assert.strictEqual(yield* replicaRefusal(sql, sql), "the database has the extension citus")
  }))
})
