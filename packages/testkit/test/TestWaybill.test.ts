import { assert, describe, it } from "@effect/vitest"
import { AccessStore, FreightChargeIntake, ShipmentIntake, Tenants } from "@waybill/core"
import { DeliveryWorker, secretOfClient, SigningSecrets } from "@waybill/core/delivery"
import type { DeliveryUpdate } from "@waybill/core/shipment-status"
import { TransitEvents } from "@waybill/core/transit-events"
import { Effect, Option, Redacted } from "effect"
import { execFileSync } from "node:child_process"
import { billChange, jsonOf, ltlJourney, postedShipment, ScriptedReceivers, StorageMemory, TestWaybill, verifySignature } from "../src/index.ts"

const url = "https://receiver.example/hook"

describe("TestWaybill", () => {
  it.effect("runs the whole service and delivers published events, signed", Effect.fnUntraced(function*() {
    const tenant = yield* TestWaybill.tenant()
    const receivers = yield* ScriptedReceivers
    yield* TestWaybill.subscribe(tenant, tenant.customer("shipper", ["A"]), { endpointUrl: url })
    yield* TestWaybill.run
    yield* (yield* TransitEvents).append(tenant.carrier, ltlJourney("SHP-1", { accounts: ["A"] }))
    const [request] = yield* receivers.received(1, url)
    assert.isTrue(verifySignature(tenant.secret, request!))
    yield* TestWaybill.quiet
    assert.lengthOf(yield* receivers.deliveredEvents(url), 9)
  }, Effect.provide(TestWaybill.layer())))

  it.effect("sends charges to a debtor, unsigned until a secret is registered for it", Effect.fnUntraced(function*() {
    const tenant = yield* TestWaybill.tenant()
    const receivers = yield* ScriptedReceivers
    yield* TestWaybill.subscribeToCharges(tenant.customer("debtor", ["A"]), { webhookUrl: url })
    yield* TestWaybill.run
    yield* (yield* FreightChargeIntake).report(tenant.carrier, billChange("created", "0418367745WAYB20261120"))
    const [unsigned] = yield* receivers.received(1, url)
    assert.isUndefined(unsigned!.headers["webhook-signature"])
    assert.lengthOf(jsonOf(unsigned!) as ReadonlyArray<unknown>, 1)
    yield* TestWaybill.quiet
    const { secret } = yield* (yield* SigningSecrets).put(tenant.tenantId, secretOfClient("debtor"), {})
    yield* (yield* FreightChargeIntake).report(tenant.carrier, billChange("updated", "0418367745WAYB20261120", { total: 1 }))
    const [, signed] = yield* receivers.received(2, url)
    assert.isTrue(verifySignature(Redacted.value(secret), signed!))
  }, Effect.provide(TestWaybill.layer())))

  it.effect("sends status notifications to subscribers of a shipment", Effect.fnUntraced(function*() {
    const tenant = yield* TestWaybill.tenant()
    const receivers = yield* ScriptedReceivers
    yield* TestWaybill.follow(tenant.customer("shipper", ["A"]), { webhookUrl: url, referenceNumbers: ["041-8367745"] })
    yield* TestWaybill.run
    const shipment = postedShipment("S", { ProNumber: "0418367745", accounts: ["A"] })
    yield* (yield* ShipmentIntake).report(tenant.carrier, { ...shipment, ShipmentMilestoneStatus: "Picked-up" })
    yield* receivers.received(1, url)
    yield* TestWaybill.quiet
    const [told] = yield* receivers.delivered(url)
    const { proNumber, shipmentMilestoneStatus } = told as DeliveryUpdate
    assert.deepStrictEqual([proNumber, shipmentMilestoneStatus], ["0418367745", "Picked-up"])
  }, Effect.provide(TestWaybill.layer())))

  it.effect("starts empty each time it is built", Effect.fnUntraced(function*() {
    const layer = TestWaybill.layer()
    yield* Effect.provide(TestWaybill.tenant("first"), layer)
    assert.deepStrictEqual(yield* Effect.provide(Effect.flatMap(Tenants, (tenants) => tenants.list), layer), [])
    yield* Effect.provide(Effect.flatMap(AccessStore, (store) => store.putTenant({ tenantId: "t", name: "T", hosts: [] })), StorageMemory.layer)
    assert.isTrue(Option.isNone(yield* Effect.provide(Effect.flatMap(AccessStore, (store) => store.findTenant("t")), StorageMemory.layer)))
  }))

  it.effect("gives every additional worker its own store with faults", Effect.fnUntraced(function*() {
    const { faults, worker } = yield* TestWaybill.worker()
    yield* faults.break("look", "before")
    assert.strictEqual((yield* Effect.flip(worker.drain))._tag, "StorageError")
    assert.strictEqual(yield* (yield* DeliveryWorker).drain, 0)
    assert.strictEqual(yield* worker.drain, 0)
  }, Effect.provide(TestWaybill.layer())))

  it.live("also runs on real time", Effect.fnUntraced(function*() {
    const tenant = yield* TestWaybill.tenant()
    const receivers = yield* ScriptedReceivers
    yield* TestWaybill.subscribe(tenant, tenant.customer("shipper", ["A"]), { endpointUrl: url })
    yield* TestWaybill.run
    yield* (yield* TransitEvents).append(tenant.carrier, ltlJourney("SHP-1", { accounts: ["A"] }))
    assert.lengthOf(yield* receivers.received(1, url), 1)
  }, Effect.provide(TestWaybill.layer())))

  it("can be imported without a test framework", () => {
    const program = `import { TestWaybill } from ${JSON.stringify(new URL("../src/index.ts", import.meta.url).href)}\nconsole.log(typeof TestWaybill.layer())`
    const output = execFileSync(process.execPath, ["--conditions=@waybill/source", "--disable-warning=ExperimentalWarning", "--input-type=module", "--eval", program], { encoding: "utf8" })
    assert.strictEqual(output, "object\n")
  })
})
