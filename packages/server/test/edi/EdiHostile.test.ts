import { assert, describe, it } from "@effect/vitest"
import { type PickupChangeEntry, Pickups } from "@waybill/core/pickups"
import { TestWaybill } from "@waybill/testkit"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import { mkdirSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { pollPartners, type PartnerStates } from "../../src/edi/EdiWorker.ts"
import { fileOf, makePartner, profile, put, reportOf, segmentsIn, sentTo } from "./EdiFolder.ts"

const shipper = { ...profile, carrier: undefined, sets: ["204", "211", "216"], writes: ["990"], linearFeet: 12 }

const freight = ["N1*SF*Closets Inc.", "N3*12 Dock Road", "N4*Chicago*IL*60608"]
const tender = (number: string) => ["B2**ABCD**" + number, "B2A*00", "S5*1*LD*1250*L*4", ...freight]
const good = fileOf("SM", "204", tender("GOOD"), 1)

const decoder = new TextDecoder()

/** Runs the worker on these files and a good one, and returns what was ordered. */
const receive = Effect.fnUntraced(function*(files: Readonly<Record<string, string>>) {
  yield* TestClock.setTime(Date.UTC(2026, 10, 20, 6))
  const { folder, root, tenant } = yield* makePartner(shipper)
  const pickups = yield* Pickups
  for (const [name, text] of Object.entries({ ...files, "good.edi": good })) put(folder, name, text)
  for (let count = 0; count < 2; count++) yield* pollPartners(root, new Map())
  const { data } = yield* pickups.changes(tenant.carrier, {})
  const ordered = data.map((body) => (JSON.parse(decoder.decode(body)) as PickupChangeEntry).request.shipmentDetails![0]!.shipperRef)
  const names = (kept: "done" | "failed") => readdirSync(folder).includes(kept) ? readdirSync(join(folder, kept)).filter((name) => !name.endsWith(".jsonl")).sort() : []
  return { folder, ordered: [...ordered].sort(), waiting: readdirSync(join(folder, "inbox")), done: names("done"), failed: names("failed") }
})

describe("hostile files of an EDI partner", () => {
  const test = <A, E>(name: string, scenario: Effect.Effect<A, E, any>, timeout?: number) =>
    it.effect(name, () => scenario.pipe(Effect.provide(TestWaybill.layer()), Effect.provide(TestClock.layer()), Effect.scoped) as Effect.Effect<A, E>, timeout)

  test("that are wrapped at a column are read", Effect.gen(function*() {
    const { done, ordered } = yield* receive({ "wrapped.edi": (fileOf("SM", "204", tender("WRAPPED"), 2).match(/.{1,80}/gu) ?? []).join("\r\n") })
    assert.deepStrictEqual([ordered, done], [["GOOD", "WRAPPED"], ["good.edi", "wrapped.edi"]])
  }))

  test("with wrong counts or control numbers order nothing, and say why", Effect.gen(function*() {
    const text = fileOf("SM", "204", tender("WRONG"), 2)
    const { failed, folder, ordered } = yield* receive({
      "count.edi": text.replace(/SE\*\d+/u, "SE*99"),
      "number.edi": text.replace(/SE\*(\d+)\*0001/u, "SE*$1*0002"),
      "end.edi": text.slice(0, text.indexOf("SE*")),
      "sender.edi": text.replace("*02*ABCD ", "*02*EVIL "),
      "test.edi": text.replace("*0*P*>", "*0*T*>")
    })
    assert.deepStrictEqual([ordered, failed], [["GOOD"], ["count.edi", "end.edi", "number.edi", "sender.edi", "test.edi"]])
    for (const [name, reason] of [["count.edi", "SE"], ["number.edi", "SE"], ["sender.edi", "The sender is 02/EVIL"], ["test.edi", "The interchange is a test"]] as const) assert.include(reportOf(join(folder, "failed"), name), reason)
    assert.deepStrictEqual(segmentsIn(sentTo(folder, "990"), "B1").length, 1)
  }))

  test("that are no EDI, endless or full of control characters are kept apart", Effect.gen(function*() {
    const { failed, ordered, waiting } = yield* receive({
      "empty.edi": "",
      "html.edi": "<html>404</html>",
      "endless.edi": `${good.slice(0, 200)}${"A".repeat(300_000)}`,
      "binary.edi": "\u0000\u0001\ufffd".repeat(10_000),
      "delimiters.edi": good.replaceAll("~", "\u0000")
    })
    assert.deepStrictEqual([ordered, waiting], [["GOOD"], []])
    assert.includeMembers(failed, ["binary.edi", "empty.edi", "endless.edi", "html.edi"])
  }))

  test("that are refused are in the log with their first fault, and entries that are never read with their names", Effect.gen(function*() {
    const { folder, root, tenant } = yield* makePartner(shipper)
    put(folder, "empty.edi", "")
    put(folder, "set.edi", fileOf("SM", "204", ["B2**ABCD**WRONG"], 2))
    mkdirSync(join(folder, "inbox/archive"))
    const lines: Array<string> = []
    const logger = Logger.map(Logger.formatJson, (line) => void lines.push(line))
    const states: PartnerStates = new Map()
    for (let count = 0; count < 3; count++) yield* Effect.provide(pollPartners(root, states), Logger.layer([logger]))
    const annotationsOf = (message: string) => lines.map((line) => JSON.parse(line) as { readonly message: string; readonly annotations: object }).filter((line) => line.message === message).map(({ annotations }) => annotations)
    assert.containSubset(annotationsOf("EDI file read, with faults."), [{ file: "empty.edi", fault: "ISA: The file has no interchange." }, { file: "set.edi", fault: "B2A at segment 3: The set has no B2A." }])
    const skipped = (name: string) => ({ tenant: tenant.tenantId, partner: "acme", file: name, reason: "It is a directory. Put its files into the inbox itself, and move it away." })
    assert.deepStrictEqual(annotationsOf("EDI file skipped."), [skipped("archive")])
    mkdirSync(join(folder, "inbox/old"))
    yield* Effect.provide(pollPartners(root, states), Logger.layer([logger]))
    assert.deepStrictEqual(annotationsOf("EDI file skipped."), [skipped("archive"), skipped("old")], "each of them once")
  }))

  test("with many interchanges are answered with one file", Effect.gen(function*() {
    const { folder, ordered } = yield* receive({ "many.edi": [2, 3, 4].map((number) => fileOf("SM", "204", tender(`T-${number}`), number)).join("") })
    assert.deepStrictEqual([ordered, sentTo(folder, "997").map((text) => text.split("ISA*").length - 1).sort()], [["GOOD", "T-2", "T-3", "T-4"], [1, 3]])
  }))

  test("with a set that is too large, or thousands of lines, refuse that set and read the next", Effect.gen(function*() {
    const large = fileOf("BL", "211", ["BOL*ABCD*PP*LARGE*20261120", "B2A*00", ...freight, ...Array.from({ length: 60_000 }, () => "AT1*1")], 2)
    const many = fileOf("BL", "211", ["BOL*ABCD*PP*MANY*20261120", "B2A*00", ...freight, ...Array.from({ length: 5_000 }, (_, line) => [`AT1*${line}`, "AT2*1*PLT*G*L*1"]).flat()], 3)
    const next = fileOf("PU", "216", ["PUN*ABCD*20261120*0800*NEXT", "TEM*2**L*1250", ...freight], 4)
    const { failed, folder, ordered } = yield* receive({ "large.edi": `${large}${next}`, "many.edi": many })
    assert.deepStrictEqual([ordered, failed], [["GOOD", "NEXT"], ["many.edi"]])
    assert.include(reportOf(join(folder, "failed"), "many.edi"), "\"refused\":1")
  }), 120_000)

  test("that repeat one order under many numbers are answered for each", Effect.gen(function*() {
    const { folder, ordered } = yield* receive({ "a.edi": fileOf("SM", "204", tender("SAME"), 2), "b.edi": fileOf("SM", "204", tender("SAME"), 3) })
    assert.deepStrictEqual(ordered, ["GOOD", "SAME", "SAME"])
    assert.lengthOf(segmentsIn(sentTo(folder, "990"), "B1"), 3)
  }))
})
