/** Mails that two processes take at the same time. */
import { layer } from "@effect/vitest"
import { AccessStore, MailStore } from "@waybill/core"
import { fixtures } from "@waybill/conformance/suites"
import { Effect } from "effect"
import { assert } from "vitest"
import { openTransaction } from "../OpenTransaction.ts"
import { rowsIn } from "../TestService.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"

const schema = freshSchema()

const twoMails = Effect.gen(function*() {
  const [store, tenantId] = [yield* MailStore, fixtures.freshTenant()]
  yield* (yield* AccessStore).putTenant({ tenantId, name: "Acme", hosts: [] })
  for (const id of ["one", "other"]) yield* store.put(tenantId, "key:shop", { id, to: "edi@shipper.example", subject: "Subject", text: "Text" })
  return { tenantId, take: (limit: number) => store.take(tenantId, limit, 60_000) }
})

layer(testStorage(schema), { excludeTestServices: true })("mails that another transaction takes", (it) => {
  it.effect("are left out at once", Effect.fnUntraced(function*() {
    const { take } = yield* twoMails
    const commit = yield* openTransaction(take(1))
    const taken = yield* take(5)
    const [before] = yield* commit
    assert.deepStrictEqual([before!.id, ...taken.map(({ id }) => id)].toSorted(), ["one", "other"])
    assert.deepStrictEqual(yield* take(5), [])
  }))

  it.effect("are left out at once when the database's clock was set back", Effect.fnUntraced(function*() {
    const { take, tenantId } = yield* twoMails
    yield* rowsIn(schema)("UPDATE @mails SET due_at = due_at + interval '3 hours', scheduled_at = scheduled_at + interval '3 hours' WHERE tenant_id = $1", [tenantId])
    const commit = yield* openTransaction(take(5))
    assert.deepStrictEqual(yield* take(5), [])
    assert.deepStrictEqual(yield* commit, [])
    assert.lengthOf(yield* take(5), 2)
  }))
})
