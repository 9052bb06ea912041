/** Several carriers in one tenant: a key claims no number that it does not have and another carrier's key has. */
import { assert, describe, it } from "@effect/vitest"
import { ApiKeys, type CarrierNumbers, type Principal, ShipmentIntake } from "@waybill/core"
import { InvoiceDocuments, Invoices } from "@waybill/core/invoices"
import { ShipmentStatuses } from "@waybill/core/shipment-status"
import { documentsSample, invoiceSample, postedShipment, TestWaybill } from "@waybill/testkit"
import { Effect } from "effect"
import { inService } from "../inService.ts"
import { tagOf } from "../invoices/Billing.ts"

const setup = Effect.gen(function*() {
  const { carrier, tenantId } = yield* TestWaybill.tenant()
  const keys = yield* ApiKeys
  /** A client with a key of its own. */
  const client = Effect.fnUntraced(function*(name: string, numbers: CarrierNumbers) {
    yield* keys.create(tenantId, { name, roles: ["carrier"], ...numbers } as never)
    return { tenantId, client: `key:${name}`, roles: ["carrier"], accounts: [], origin: "key", ...numbers } as Principal
  })
  return { broker: carrier, client, invoices: yield* Invoices, documents: yield* InvoiceDocuments }
})

/** Each writer has one number, and names a number of the other one. */
const attacks: ReadonlyArray<{ readonly title: string; readonly own: CarrierNumbers; readonly other: CarrierNumbers; readonly named: { readonly DOT: string; readonly MC: string } }> = [
  { title: "DOT, another MC", own: { dot: "1" }, other: { mc: "MC-02" }, named: { DOT: "1", MC: "2" } },
  { title: "DOT, another both", own: { dot: "1" }, other: { dot: "2", mc: "2" }, named: { DOT: "1", MC: "MC 0002" } },
  { title: "MC, another DOT", own: { mc: "1" }, other: { dot: "USDOT2" }, named: { DOT: "2", MC: "1" } },
  { title: "MC, another both", own: { mc: "1" }, other: { dot: "2", mc: "2" }, named: { DOT: "DOT-2", MC: "1" } }
]

describe("a carrier whose key has only one number", () => {
  it.effect.each(attacks)("writes no invoice and no document with a number of another key ($title)", Effect.fnUntraced(function*({ named, other, own }) {
    const { client, documents, invoices } = yield* setup
    const [attacker, victim] = [yield* client("attacker", own), yield* client("victim", other)]
    const kept = { DOT: own.dot ?? "", MC: own.mc ?? "" }
    yield* invoices.create(attacker, invoiceSample(kept))
    yield* documents.upload(attacker, documentsSample(kept))
    assert.strictEqual(yield* tagOf(invoices.create(attacker, invoiceSample({ ...named, uniqueID: "INV-2" }))), "InvoiceNotYours")
    assert.strictEqual(yield* tagOf(invoices.replace(attacker, "INV-1", invoiceSample(named))), "InvoiceNotYours")
    assert.strictEqual(yield* tagOf(documents.upload(attacker, documentsSample({ ...named, invoiceNumber: "4712" }))), "InvoiceNotYours")
    assert.strictEqual(yield* tagOf(invoices.get(victim, "INV-1")), "InvoiceNotFound")
    assert.deepStrictEqual([(yield* invoices.list(victim)).data, (yield* documents.list(victim)).data], [[], []])
    // the number of the other carrier alone is refused as well
    const foreign = { DOT: own.dot === undefined ? named.DOT : "", MC: own.mc === undefined ? named.MC : "" }
    assert.strictEqual(yield* tagOf(invoices.create(attacker, invoiceSample(foreign))), "InvoiceNotYours")
  }, inService))

  it.effect.each(attacks)("posts no shipment of both ($title)", Effect.fnUntraced(function*({ named, other, own }) {
    const { client } = yield* setup
    const [intake, statuses] = [yield* ShipmentIntake, yield* ShipmentStatuses]
    const [attacker, victim] = [yield* client("attacker", own), yield* client("victim", other)]
    const carrier = { dot: named.DOT.replaceAll(" ", "-"), mc: named.MC.replaceAll(" ", "-") }
    assert.strictEqual(yield* tagOf(intake.report(attacker, postedShipment("S", { carrier }) as never)), "InvalidInput")
    yield* intake.report(attacker, postedShipment("S", { carrier: { scac: "VICT" } }) as never)
    assert.strictEqual(yield* tagOf(statuses.record(victim, "S")), "ShipmentNotFound")
  }, inService))

  it.effect("cannot have a SCAC, which is no credential", Effect.fnUntraced(function*() {
    yield* setup
    const keys = yield* ApiKeys
    assert.strictEqual(yield* tagOf(keys.create("acme", { name: "scac", roles: ["carrier"], scac: "VICT" } as never)), "InvalidInput")
  }, inService))

  it.effect("names its second number, unless only other carriers' keys have that", Effect.fnUntraced(function*() {
    const { broker, client, invoices } = yield* setup
    const one = yield* client("one", { dot: "1" })
    yield* invoices.create(one, invoiceSample({ uniqueID: "INV-1", DOT: "1", MC: "2" }))
    // the number of a client of the same carrier, which has the DOT number too
    yield* client("one-edi", { dot: "1", mc: "3" })
    yield* client("one-mc", { mc: "3" })
    yield* invoices.create(one, invoiceSample({ uniqueID: "INV-2", DOT: "1", MC: "3" }))
    // kinds and tenants are apart
    yield* client("two", { dot: "4" })
    yield* invoices.create(one, invoiceSample({ uniqueID: "INV-3", DOT: "1", MC: "4" }))
    yield* client("three", { mc: "5" })
    const { carrier: elsewhere } = yield* TestWaybill.tenant("elsewhere")
    yield* invoices.create({ ...elsewhere, dot: "1" }, invoiceSample({ uniqueID: "INV-4", DOT: "1", MC: "5" }))
    const refused = yield* Effect.flip(invoices.create(one, invoiceSample({ uniqueID: "INV-4", DOT: "1", MC: "MC-05" })))
    assert.strictEqual(refused._tag, "InvoiceNotYours")
    assert.include(refused.message, "MC 5")
    yield* invoices.create(broker, invoiceSample({ uniqueID: "INV-4", DOT: "1", MC: "5" }))
  }, inService))
})
