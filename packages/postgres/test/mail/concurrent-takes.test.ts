/** Mails that two processes take at the same time. */
import { layer } from "@effect/vitest"
import { AccessStore, MailStore } from "@waybill/core"
import { fixtures } from "@waybill/conformance/suites"
import { Effect } from "effect"
import { assert } from "vitest"
import { openTransaction } from "../OpenTransaction.ts"
import { testStorage } from "../TestStorage.ts"

layer(testStorage(), { excludeTestServices: true })("mails that another transaction takes", (it) => {
  it.effect("are left out at once, and due no earlier than it says", Effect.fnUntraced(function*() {
    const [store, tenantId] = [yield* MailStore, fixtures.freshTenant()]
    yield* (yield* AccessStore).putTenant({ tenantId, name: "Acme", hosts: [] })
    for (const id of ["one", "other"]) yield* store.put(tenantId, { id, to: "edi@shipper.example", subject: "Subject", text: "Text" })
    const commit = yield* openTransaction(store.take(tenantId, 1, 60_000))
    const taken = yield* store.take(tenantId, 5, 60_000)
    const [before] = yield* commit
    assert.deepStrictEqual([before!.id, ...taken.map(({ id }) => id)].toSorted(), ["one", "other"])
    assert.deepStrictEqual(yield* store.take(tenantId, 5, 60_000), [])
  }))
})
