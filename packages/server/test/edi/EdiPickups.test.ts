import { assert, describe, it } from "@effect/vitest"
import { Retention } from "@waybill/core"
import { type PickupChangeEntry, PickupDesk, Pickups } from "@waybill/core/pickups"
import { pickupRequest, TestWaybill } from "@waybill/testkit"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { pollPartners } from "../../src/edi/EdiWorker.ts"
import { fileOf, makePartner, profile, put, reportOf, segmentsIn, sentTo } from "./EdiFolder.ts"

const shipper = { ...profile, carrier: undefined, sets: ["204", "211", "216", "990"], writes: ["990"], accounts: ["A-1"], linearFeet: 12 }

const tender = (number: string, control = 7, more: ReadonlyArray<string> = []) =>
  fileOf("SM", "204", [
    `B2**ABCD**${number}**PP`, "B2A*00", ...more, "S5*1*LD*1250*L*4*PL", "G62*37*20261120*1*0800", "G62*38*20261120*1*1600", "N1*SF*Closets Inc.*93*A-1", "N3*12 Dock Road", "N4*Chicago*IL*60608",
    "S5*2*UL*1250*L*4*PL", "N1*ST*Mirrors Ltd.", "N4*Dallas*TX*75201"
  ], control)

const bill = fileOf("BL", "211", ["BOL*ABCD*PP*BOL-9*20261120", "B2A*00", "N1*SF*Closets Inc.", "N3*12 Dock Road", "N4*Chicago*IL*60608", "AT1*1", "AT2*2*PLT*G*L*1250"], 8)
const notification = fileOf("PU", "216", ["PUN*ABCD*20261120*0800*PU-7", "TEM*2**L*1250", "N1*SF*Closets Inc.", "N3*12 Dock Road", "N4*Chicago*IL*60608"], 9)

const decoder = new TextDecoder()

describe("pickups of an EDI partner", () => {
  const test = <A, E>(name: string, scenario: Effect.Effect<A, E, any>, desk = false) =>
    it.effect(name, () => {
      const service = desk ? TestWaybill.layer().pipe(Layer.provide(Layer.succeed(PickupDesk, { waitMillis: 20_000 }))) : TestWaybill.layer()
      return scenario.pipe(Effect.provide(service), Effect.provide(TestClock.layer()), Effect.scoped) as Effect.Effect<A, E>
    })

  const partner = Effect.gen(function*() {
    yield* TestClock.setTime(Date.UTC(2026, 10, 20, 6))
    const { folder, root, tenant } = yield* makePartner(shipper)
    const pickups = yield* Pickups
    const states = new Map()
    const look = pollPartners(root, states)
    yield* look
    const entries = Effect.map(pickups.changes(tenant.carrier, {}), ({ data }) => data.map((body) => JSON.parse(decoder.decode(body)) as PickupChangeEntry))
    return { entries, folder, look, states, pickups, root, tenant }
  })

  test("are ordered once by a repeated 204, for its client and accounts, and answered once with 990", Effect.gen(function*() {
    const { entries, folder, look } = yield* partner
    put(folder, "a.edi", tender("SHIP-77"))
    yield* look
    put(folder, "b.edi", tender("SHIP-77"))
    yield* look
    assert.include(reportOf(join(folder, "done"), "b.edi"), "\"duplicates\":1")
    const [ordered, ...others] = yield* entries
    assert.deepStrictEqual([ordered!.status, ordered!.request.shipmentDetails![0]!.shipperRef, others], ["Accepted", "SHIP-77", []])
    const answers = sentTo(folder, "990")
    assert.deepStrictEqual(segmentsIn(answers, "B1"), ["B1*ABCD*SHIP-77*20261120*A"])
    assert.deepStrictEqual(segmentsIn(answers, "N9"), [`N9*P8*${ordered!.confirmationNumber}`])
  }))

  test("of files that are read again when their keys and reports are gone are not ordered again", Effect.gen(function*() {
    const { entries, folder, look } = yield* partner
    const undated = tender("SHIP-3", 3).replace(/G62[^~]*~/gu, "").replace("SE*13", "SE*11")
    const files = { "near.edi": tender("SHIP-1", 1), "later.edi": tender("SHIP-2", 2).replaceAll("20261120*1*", "20280301*1*"), "undated.edi": undated, "bill.edi": bill, "notification.edi": notification }
    const putAll = () => Object.entries(files).forEach(([name, text]) => put(folder, name, text))
    putAll()
    yield* look
    const ordered = yield* entries
    assert.include(ordered.map(({ request }) => request.shipmentDetails![0]!.shipperRef), "SHIP-2")
    for (const pause of ["27 days", "2 days", "2 days", "400 days"] as const) {
      yield* TestWaybill.pass(pause)
      yield* (yield* Retention).sweep
      putAll()
      yield* look
      const again = (yield* entries).filter(({ pickupId }) => !ordered.some((first) => first.pickupId === pickupId))
      assert.deepStrictEqual(again, [], pause)
    }
    assert.include(reportOf(join(folder, "failed"), "later.edi"), "The interchange is of 261120 (ISA-09)")
  }))

  test("are not decided by a 990 that is read again when its key is gone", Effect.gen(function*() {
    const { folder, look, pickups, tenant } = yield* partner
    const order = pickups.create(tenant.customer("other", []), pickupRequest({ day: "2027-05-20", shipment: { shipperRef: "SHIP-5" } }), { waitMillis: 0 })
    const answer = fileOf("GF", "990", ["B1*ABCD*SHIP-5*20261120*A"], 11)
    yield* order
    put(folder, "a.edi", answer)
    yield* look
    yield* TestWaybill.pass("31 days")
    yield* (yield* Retention).sweep
    yield* order
    put(folder, "a.edi", answer)
    yield* look
    assert.include(reportOf(join(folder, "failed"), "a.edi"), "The interchange is of 261120 (ISA-09)")
  }), true)

  test("of 211 and 216 are ordered, acknowledged, and not answered", Effect.gen(function*() {
    const { entries, folder, look } = yield* partner
    put(folder, "a.edi", bill)
    put(folder, "b.edi", notification)
    yield* look
    yield* look
    assert.deepStrictEqual((yield* entries).map(({ request }) => request.shipmentDetails![0]!.shipperRef).sort(), ["BOL-9", "PU-7"])
    assert.lengthOf(sentTo(folder, "997"), 2)
    assert.deepStrictEqual(sentTo(folder, "990"), [])
  }))

  test("name only accounts of the partner", Effect.gen(function*() {
    const { folder, look } = yield* partner
    put(folder, "a.edi", tender("SHIP-77").replace("*93*A-1", "*25*A-2"))
    yield* look
    const report = reportOf(join(folder, "failed"), "a.edi")
    assert.include(report, "This account is not one of yours")
    assert.include(report, "\"segment\":\"N1\",\"position\":7,\"element\":3")
  }))

  test("that the carrier decides later are answered then, each once, and not by another client's decision", Effect.gen(function*() {
    const { entries, folder, look, pickups, tenant } = yield* partner
    for (const [index, number] of ["SHIP-1", "SHIP-2", "SHIP-3"].entries()) put(folder, `${number}.edi`, tender(number, index + 1))
    yield* look
    yield* pickups.create(tenant.customer("other", ["A-1"]), pickupRequest({ shipment: { shipperRef: "SHIP-9", referenceNumbers: [{ referenceType: "EDI_SET", referenceNumber: "204" }, { referenceType: "SCAC", referenceNumber: "ABCD" }] } }), { waitMillis: 0 })
    yield* look
    assert.deepStrictEqual(sentTo(folder, "990"), [])
    const waiting = new Map((yield* entries).map(({ pickupId, request }) => [request.shipmentDetails![0]!.shipperRef, pickupId]))
    yield* pickups.decide(tenant.carrier, waiting.get("SHIP-9")!, { decision: "accept" })
    yield* pickups.decide(tenant.carrier, waiting.get("SHIP-2")!, { decision: "reject", message: "No truck" })
    yield* look
    yield* pickups.report(tenant.carrier, waiting.get("SHIP-1")!, { status: "Accepted", carrierPickupNumber: "C-1" })
    yield* pickups.report(tenant.carrier, "C-1", { status: "En Route" })
    for (let count = 0; count < 3; count++) yield* look
    const answers = sentTo(folder, "990")
    assert.deepStrictEqual(segmentsIn(answers, "B1"), ["B1*ABCD*SHIP-2*20261120*D", "B1*ABCD*SHIP-1*20261120*A"])
    assert.deepStrictEqual([segmentsIn(answers, "K1"), segmentsIn(answers, "N9")], [["K1*No truck"], ["N9*P8*C-1"]])
  }), true)

  test("are decided by a 990, once, and one that nobody waits for is refused", Effect.gen(function*() {
    const { entries, folder, look, pickups, tenant } = yield* partner
    yield* pickups.create(tenant.customer("other", []), pickupRequest({ shipment: { shipperRef: "SHIP-5" } }), { waitMillis: 0 })
    const answer = fileOf("GF", "990", ["B1*ABCD*SHIP-5*20261120*A", "N9*P8*C-5"], 11)
    put(folder, "a.edi", answer)
    yield* look
    put(folder, "b.edi", answer)
    put(folder, "c.edi", fileOf("GF", "990", ["B1*ABCD*SHIP-5*20261120*D"], 12))
    yield* look
    assert.deepStrictEqual((yield* entries).map(({ change, status }) => `${change} ${status}`), ["ordered Call us", "decided Accepted"])
    assert.include(reportOf(join(folder, "done"), "b.edi"), "\"duplicates\":1")
    assert.include(reportOf(join(folder, "failed"), "c.edi"), "No pickup with the shipment number SHIP-5 waits for a decision.")
  }), true)

  test("that were ordered before a crash are answered after it", Effect.gen(function*() {
    const { folder, look, root } = yield* partner
    put(folder, "a.edi", tender("SHIP-77"))
    yield* look
    yield* pollPartners(root, new Map())
    assert.lengthOf(sentTo(folder, "990"), 1)
    assert.deepStrictEqual(readdirSync(join(folder, "outgoing/990")).sort(), ["000000000001.json", "000000000002.json", "000000000002.sent"])
  }))
})
