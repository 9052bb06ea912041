/** One shipment through three areas: the carrier writes once, and status, events and charges follow. In memory, on a virtual clock. */
import { isDeliveryUpdate, type PreliminaryFreightCharge, type PublicShipment, type StatusNotification, type VerifiedShipment } from "@waybill/client"
import { FreightChargeIntake, ShipmentIntake, TransitEventIntake } from "@waybill/core"
import { ShipmentStatuses } from "@waybill/core/shipment-status"
import { billChange, ltlJourney, postedShipment, ScriptedReceivers, TestWaybill } from "@waybill/testkit"
import { Console, Effect, Random } from "effect"
import { TestClock } from "effect/testing"

const proNumber = "0418367745"
const bill = `${proNumber}WAYB20261120`
const [follower, debtor, nextDebtor] = ["https://shipper.example/status", "https://shipper.example/charges", "https://broker.example/charges"] as const

const scenario = Effect.gen(function*() {
  const tenant = yield* TestWaybill.tenant()
  const shipper = tenant.customer("shipper", ["A-1"])
  const broker = tenant.customer("broker", ["B-2"])
  const shipments = yield* ShipmentIntake
  const events = yield* TransitEventIntake
  const charges = yield* FreightChargeIntake
  yield* TestWaybill.run

  // by PRO, as printed on the label, before the carrier has registered the shipment
  yield* TestWaybill.follow(shipper, { webhookUrl: follower, referenceNumbers: ["041-836774-5"] })
  yield* TestWaybill.subscribeToCharges(shipper, { webhookUrl: debtor })
  yield* TestWaybill.subscribeToCharges(broker, { webhookUrl: nextDebtor })

  yield* Console.log("the carrier posts the shipment once, then only its events")
  yield* shipments.report(tenant.carrier, { shipments: [postedShipment("S-1", { ProNumber: proNumber, accounts: ["A-1"] })] })
  const journey = ltlJourney("S-1", { accounts: ["A-1"] })
  yield* events.report(tenant.carrier, { events: journey.slice(0, 5) })
  yield* look("halfway", proNumber, shipper, tenant.tenantId)
  yield* events.report(tenant.carrier, { events: journey.slice(5) })
  yield* look("at the end", proNumber, shipper, tenant.tenantId)
  yield* TestWaybill.pass("1 minute")
  yield* received("the follower receives", follower, noticeIn)

  yield* Console.log("the bill is created, reweighed, and moved to another debtor")
  yield* charges.report(tenant.carrier, billChange("created", bill, { account: "A-1" }))
  const changeLog = [{ eventCategoryName: "Reweigh", eventCode: "RWE" }]
  yield* charges.report(tenant.carrier, billChange("updated", bill, { account: "A-1", weight: 1912, total: 271.02, changeLog }))
  yield* charges.report(tenant.carrier, billChange("updated", bill, { account: "B-2", weight: 1912, total: 240 }))
  yield* charges.report(tenant.carrier, billChange("final", bill, { account: "B-2", weight: 1912, total: 240 }))
  yield* TestWaybill.pass("1 minute")
  yield* received("the shipper receives", debtor, chargesIn)
  yield* received("the new debtor receives", nextDebtor, chargesIn)
})

/** Every field for owners of the shipment, four for others. */
const look = Effect.fnUntraced(function*(when: string, pro: string, owner: Parameters<ShipmentStatuses["Service"]["verified"]>[0], tenantId: string) {
  const statuses = yield* ShipmentStatuses
  const by = { kind: "pro", proNumber: pro } as const
  const own = jsonIn((yield* statuses.verified(owner, by)).body.bytes) as VerifiedShipment
  const open = jsonIn((yield* statuses.public({ tenantId, client: "somebody" }, by)).bytes) as PublicShipment
  yield* Console.log(
    `${when}: ${own.ShipmentMilestoneStatus}, expected ${own.UpdatedETA}; public lookups show ${Object.keys(open).length} of ${Object.keys(own).length} fields`
  )
})

const received = Effect.fnUntraced(function*<Body>(who: string, url: string, shown: (body: Body) => string) {
  const receivers = yield* ScriptedReceivers
  const bodies = (yield* receivers.delivered(url)) as ReadonlyArray<Body>
  yield* Console.log(`${who}: ${bodies.map(shown).join(", ")}`)
})

const noticeIn = (notice: StatusNotification): string => {
  if (!isDeliveryUpdate(notice)) return notice.deliveryInformation_messages
  const at = notice.terminalStatus === undefined ? "" : ` (${notice.terminalStatus})`
  return `${notice.shipmentMilestoneStatus}${at}`
}

const chargesIn = (body: ReadonlyArray<PreliminaryFreightCharge>): string =>
  body.map(({ charges, pfc }) => {
    const why = charges.changeLog?.at(-1)?.eventCategoryName ?? "nothing"
    return `${pfc.header.function} ${charges.currencyType} ${charges.preliminaryTotalCharges} for ${why}`
  }).join(", ")

const decoder = new TextDecoder()
const jsonIn = (bytes: Uint8Array): unknown => JSON.parse(decoder.decode(bytes))

await Effect.runPromise(scenario.pipe(
  Effect.provide(TestWaybill.layer()),
  Effect.provide(TestClock.layer()),
  Random.withSeed("waybill"),
  Effect.scoped
))
