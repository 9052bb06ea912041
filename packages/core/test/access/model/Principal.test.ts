import { assert, describe, it } from "@effect/vitest"
import type { Principal } from "@waybill/core"
import { accountOfGrant, carrierGrants, carrierNamed } from "../../../src/access/model/CarrierNumbers.ts"
import { accessOf, carrierOf, isOwn, maySee, visibilityOf } from "../../../src/access/model/Principal.ts"

const principal = (parts: Partial<Principal>): Principal => ({ tenantId: "acme", client: "key:caller", origin: "key", roles: ["customer"], accounts: ["A"], ...parts })

describe("what a caller may see", () => {
  it("is everything for a carrier without a number, its own freight for one with a number, and accounts for a customer", () => {
    const visible = (parts: Partial<Principal>) => visibilityOf(principal(parts))
    assert.deepStrictEqual(visible({}), { _tag: "Granted", grants: ["A"] })
    assert.deepStrictEqual(visible({ roles: ["carrier"] }), { _tag: "All" })
    assert.deepStrictEqual(visible({ roles: ["carrier"], dot: "1" }), { _tag: "Granted", grants: [" dot 1"] })
    assert.deepStrictEqual(visible({ roles: ["carrier"], mc: "2" }), { _tag: "Granted", grants: [" mc 2"] })
    // numbers are of carriers only
    assert.deepStrictEqual(visible({ dot: "1" }), { _tag: "Granted", grants: ["A"] })
    assert.isTrue(maySee({ _tag: "All" }, []))
    assert.deepStrictEqual([["A", "B"], ["B"], []].map((grants) => maySee({ _tag: "Granted", grants: ["A"] }, grants)), [true, false, false])
  })

  it("is nothing for a carrier whose numbers name none", () => {
    const own = carrierOf(principal({ roles: ["carrier"], dot: "" }))
    assert.deepStrictEqual(own, [])
    assert.isFalse(isOwn(own, [" dot 1"]))
  })

  it("is a carrier's own when one of its numbers is the freight's, and anybody's without numbers", () => {
    const own = carrierOf(principal({ roles: ["carrier"], dot: "1", mc: "2" }))
    assert.deepStrictEqual([[" dot 1"], [" mc 2", " dot 9"], [" dot 2"], []].map((carrier) => isOwn(own, carrier)), [true, true, false, false])
    assert.isTrue(isOwn(undefined, [" dot 1"]))
  })

  it("adds up over all credentials of a client", () => {
    const customer = { roles: ["customer"], accounts: ["A", "B"] } as const
    const carrier = { roles: ["carrier"], accounts: ["C"], dot: "1" } as const
    assert.deepStrictEqual(accessOf([customer, carrier, { ...customer, accounts: ["A"] }]), { seesAll: false, accounts: ["A", "B", " dot 1", " dot 1 C"] })
    assert.deepStrictEqual(accessOf([customer, { roles: ["carrier"], accounts: [] }]), { seesAll: true, accounts: ["A", "B"] })
    // a customer's number shows nothing
    assert.deepStrictEqual(accessOf([{ ...customer, dot: "1" }]), { seesAll: false, accounts: ["A", "B"] })
  })
})

describe("the grants of a carrier", () => {
  it("name its numbers and its code, and are read again", () => {
    const grants = carrierGrants({ dot: "1", mc: "2", scac: "abcd" })
    assert.deepStrictEqual(grants, [" dot 1", " mc 2", " scac ABCD"])
    assert.deepStrictEqual(carrierNamed(grants), { dot: "1", mc: "2", scac: "ABCD" })
    assert.deepStrictEqual([carrierGrants({}), carrierNamed([])], [[], undefined])
  })

  it("show the account of an account within it, and none of its own numbers", () => {
    assert.deepStrictEqual(["A", " dot 1", " dot 1 A", " dot 1 A B"].map(accountOfGrant), ["A", undefined, "A", "A B"])
  })
})
