/** `waybill simulate`: plays the demo's journey into any server, in every area. */
import { Effect, Option } from "effect"
import * as Clock from "effect/Clock"
import { Command, Flag } from "effect/cli"
import { demoAccount, shipmentsOf } from "../demo/DemoFreight.ts"
import { journeyFrom, journeyMillis, type TimedWrites } from "../demo/DemoJourney.ts"
import { makeWriter } from "../demo/DemoWriters.ts"
import { usageError } from "./shared/Outcome.ts"
import { counted, jsonFlag, printProgress, printResult } from "./shared/Output.ts"
import { callServer, carrierConnection, carrierFlags } from "./shared/Remote.ts"

/** Replaces the demo's account. File contents stay unchanged. */
const billedTo = <A>(value: A, account: string): A => {
  const replaced = (part: unknown): unknown => {
    if (part === demoAccount) return account
    if (Array.isArray(part)) return part.map(replaced)
    if (typeof part !== "object" || part === null || part instanceof Uint8Array) return part
    return Object.fromEntries(Object.entries(part).map(([name, member]) => [name, replaced(member)]))
  }
  return replaced(value) as A
}

/** A key with carrier numbers may write only with those, so the invoices must name them. */
const carriedBy = (writes: TimedWrites, numbers: Readonly<Partial<Record<"DOT" | "MC", string>>>): TimedWrites => ({
  ...writes,
  invoices: writes.invoices.map(({ invoice, proof }) => ({ invoice: { ...invoice, ...numbers }, proof: { ...proof, ...numbers } }))
})

const text = ({ charges, events, invoices, orders, pickups, shipments }: TimedWrites): string =>
  [
    ...orders.map(({ key }) => `truck ordered for ${key}`),
    ...pickups.map(({ key, report }) => `driver of ${key}: ${report.status}`),
    ...(shipments.length === 0 ? [] : [counted(shipments.length, "shipment")]),
    ...events.map(({ location, shipment, type }) => `${shipment.shipmentId} ${type}${location?.city === undefined ? "" : ` in ${location.city}`}`),
    ...charges.map(({ pfc }) => `${pfc.pfc.header.function} of PRO ${pfc.referenceNumbers.pro}`),
    ...invoices.map(({ invoice }) => `invoice ${invoice.invoiceHeader.invoiceNumber} with its proof of delivery`)
  ].join("; ")

const count = (schedule: ReadonlyArray<TimedWrites>) => {
  const of = (what: "orders" | "shipments" | "events" | "charges" | "invoices") => schedule.reduce((sum, writes) => sum + writes[what].length, 0)
  return { pickups: of("orders"), shipments: of("shipments"), events: of("events"), charges: of("charges"), invoices: of("invoices") }
}

export const simulateCommand = Command.make(
  "simulate",
  {
    ...carrierFlags,
    account: Flag.String("account").pipe(Flag.withDescription(`Whose freight it is: the account of a customer's key; default ${demoAccount}`), Flag.withDefault(demoAccount)),
    pace: Flag.Finite("pace").pipe(Flag.withDescription("Seconds between two events; 0 writes all at once; default 2"), Flag.withDefault(2)),
    dot: Flag.String("dot").pipe(Flag.withDescription("DOT number of the carrier, if its key has one"), Flag.optional),
    mc: Flag.String("mc").pipe(Flag.withDescription("MC number of the carrier, if its key has one"), Flag.optional),
    json: jsonFlag
  },
  Effect.fnUntraced(function*({ account, dot, json, mc, pace, ...flags }) {
    if (!(pace >= 0 && pace <= 3600)) return yield* usageError("--pace is a number of seconds from 0 to 3600.")
    const { apiKey, baseUrl } = yield* carrierConnection(flags)
    // The carrier orders its own trucks, so one key is enough.
    const write = makeWriter({ url: baseUrl, carrierKey: () => apiKey, shipperKey: () => apiKey, print: () => {} })
    // Starts the journey in the past, because events must not lie in the future at any speed.
    const startedAt = (yield* Clock.currentTimeMillis) - journeyMillis
    const numbers = { ...(Option.isSome(dot) ? { DOT: dot.value } : {}), ...(Option.isSome(mc) ? { MC: mc.value } : {}) }
    const schedule = billedTo(journeyFrom(startedAt), account).map((writes) => carriedBy(writes, numbers))
    for (const [index, writes] of schedule.entries()) {
      if (index > 0 && pace > 0) yield* Effect.sleep(pace * 1000)
      yield* callServer((signal) => write(writes, signal))
      yield* printProgress(`${index + 1}/${schedule.length}  ${text(writes)}`)
    }
    const written = count(schedule)
    const shipments = shipmentsOf(startedAt).map(({ bolNumber, proNumber, shipmentId }) => ({ shipmentId, proNumber, bolNumber }))
    yield* printResult(json, {
      json: { account, shipments, written },
      text: [
        `Written for ${account}: ${counted(written.pickups, "pickup")}, ${counted(written.shipments, "shipment")}, ${counted(written.events, "event")}, `
        + `${counted(written.charges, "version")} of their bills and ${counted(written.invoices, "invoice")} with proofs of delivery.`,
        ...shipments.map(({ proNumber, shipmentId }) => `  ${shipmentId}  PRO ${proNumber}`)
      ].join("\n")
    })
  })
).pipe(
  Command.withDescription(
    "Play three shipments from the order for a truck to the invoice into a server, with a carrier's key: pickups, shipments, events, freight bills,\n"
      + "invoices with proofs of delivery"
  ),
  Command.withShortDescription("Play three shipments into a server, in every area"),
  Command.withExamples([
    { command: "waybill simulate --account A-100", description: "A minute of freight for that customer, with the carrier's key in WAYBILL_API_KEY" },
    { command: "waybill simulate --account A-100 --pace 0 --json", description: "All at once, for a script" }
  ])
)
