import { assert, describe, it } from "@effect/vitest"
import { maySee, Tenants, visibilityOf } from "@waybill/core"
import { Effect } from "effect"
import { json } from "../arbitraries.ts"
import { untyped } from "../untyped.ts"
import { inService } from "../inService.ts"

describe("Tenants", () => {
  it.effect("are created and changed by putting them", Effect.fnUntraced(function*() {
    const tenants = yield* Tenants
    yield* tenants.put("acme", { name: "Acme" })
    yield* tenants.put("acme", { name: "Acme Freight", hosts: ["Track.Acme.example"] })
    assert.deepStrictEqual(yield* tenants.get("acme"), { tenantId: "acme", name: "Acme Freight", hosts: ["track.acme.example"], state: "active" })
    assert.lengthOf(yield* tenants.list, 1)
    assert.strictEqual((yield* Effect.flip(tenants.get("nobody")))._tag, "TenantNotFound")
  }, inService))

  it.effect("have plain ids, a name, and host names", Effect.fnUntraced(function*() {
    const tenants = yield* Tenants
    for (const id of ["", "a b", "ä", "a/b", "x".repeat(64)]) assert.strictEqual((yield* Effect.flip(tenants.put(id, { name: "x" })))._tag, "InvalidInput")
    for (const input of [{}, { name: "" }, { name: "  " }, { name: "x", hosts: ["https://a.example"] }, { name: "x", hosts: ["a:80"] }, { name: "x", colour: "red" }]) {
      assert.strictEqual((yield* Effect.flip(tenants.put("acme", untyped(input))))._tag, "InvalidInput")
    }
    assert.lengthOf(yield* tenants.list, 0)
  }, inService))

  it.effect("are listed in pages, in the order of their ids", Effect.fnUntraced(function*() {
    const tenants = yield* Tenants
    for (const id of ["b", "a", "C", "d"]) yield* tenants.put(id, { name: `Tenant ${id}` })
    const first = yield* tenants.page({ limit: 3 })
    assert.deepStrictEqual(first.data.map((each) => each.tenantId), ["C", "a", "b"])
    assert.deepStrictEqual(yield* tenants.page({ limit: 3, cursor: first.nextCursor! }), { data: [{ tenantId: "d", name: "Tenant d", hosts: [], state: "active" }], nextCursor: null })
    assert.lengthOf((yield* tenants.page({})).data, 4)
    for (const query of [{ limit: 0 }, { limit: 501 }, { cursor: "b" }, { colour: "red" }]) {
      assert.strictEqual((yield* Effect.flip(tenants.page(query)))._tag, "InvalidInput")
    }
  }, inService))

  it.effect.prop("handle arbitrary input", [json], Effect.fnUntraced(function*([input]) {
    const tenants = yield* Tenants
    assert.strictEqual((yield* Effect.flip(tenants.put("acme", untyped(input))))._tag, "InvalidInput")
  }, inService))
})

describe("visibility", () => {
  const principal = (role: "carrier" | "customer", accounts: ReadonlyArray<string>) => ({ tenantId: "acme", client: "c", roles: [role], accounts, origin: "key" as const })

  it("is everything for carriers, and freight of their accounts for customers", () => {
    assert.isTrue(maySee(visibilityOf(principal("carrier", [])), []))
    const customer = visibilityOf(principal("customer", ["A", "B"]))
    assert.isTrue(maySee(customer, ["X", "B"]))
    assert.isFalse(maySee(customer, ["X"]))
    assert.isFalse(maySee(customer, []), "only carriers see a shipment without accounts")
    assert.isFalse(maySee(visibilityOf(principal("customer", [])), []))
  })
})
