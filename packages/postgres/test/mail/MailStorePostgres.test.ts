import { layer } from "@effect/vitest"
import { AccessStore, MailStore } from "@waybill/core"
import { fixtures, MailStoreSuite } from "@waybill/conformance/suites"
import { Effect } from "effect"
import { assert } from "vitest"
import { rowsIn } from "../TestService.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"

MailStoreSuite.suite("Postgres", testStorage())

const schema = freshSchema()
const rows = rowsIn(schema)

layer(testStorage(schema), { excludeTestServices: true })("a mail, once the database's clock was set back by three hours,", (it) => {
  const mail = { to: "edi@shipper.example", subject: "Subject", text: "Text" }
  const minute = 60_000

  const tenantOnceSetBack = Effect.fnUntraced(function*(leaseMillis: number) {
    const store = yield* MailStore
    const tenantId = fixtures.freshTenant()
    yield* Effect.flatMap(AccessStore, (access) => access.putTenant({ tenantId, name: "Acme", hosts: [] }))
    for (const id of ["taken", "waiting"]) {
      yield* store.put(tenantId, { ...mail, id })
      if (id === "taken") yield* store.take(tenantId, 1, leaseMillis)
    }
    yield* rows("UPDATE @mails SET due_at = due_at + interval '3 hours', scheduled_at = scheduled_at + interval '3 hours' WHERE tenant_id = $1", [tenantId])
    return { store, tenantId }
  })

  it.effect("is found, and is due after the time that it was given", () =>
    Effect.gen(function*() {
      const { store, tenantId } = yield* tenantOnceSetBack(10)
      assert.include(yield* store.tenants(1000), tenantId)
      assert.deepStrictEqual(yield* store.take(tenantId, 5, minute), [])
      const found = yield* fixtures.eventually(store.take(tenantId, 1, minute), (mails) => mails.length > 0)
      const others = yield* fixtures.eventually(store.take(tenantId, 1, minute), (mails) => mails.length > 0)
      assert.deepStrictEqual([...found, ...others].map(({ id }) => id).sort(), ["taken", "waiting"])
      assert.notInclude(yield* store.tenants(1000), tenantId)
    }))

  it.effect("is not taken from a process that sends it", () =>
    Effect.gen(function*() {
      const { store, tenantId } = yield* tenantOnceSetBack(minute)
      yield* store.take(tenantId, 5, minute)
      assert.deepStrictEqual((yield* store.take(tenantId, 5, minute)).map(({ id }) => id), ["waiting"])
      assert.notInclude(yield* store.tenants(1000), tenantId)
    }))
})
