/** `waybill simulate`: the demo's journey, played into any server through its intake. */
import { type FreightBillChange, IntakeClient } from "@waybill/client"
import { Effect } from "effect"
import * as Clock from "effect/Clock"
import { Command, Flag } from "effect/cli"
import { demoAccount, shipmentsOf } from "../demo/DemoFreight.ts"
import { journeyFrom, journeyMillis, type Scene } from "../demo/DemoJourney.ts"
import { unusable } from "./shared/Outcome.ts"
import { answer, counted, jsonFlag, progress } from "./shared/Output.ts"
import { asCarrier, called, carrierFlags } from "./shared/Remote.ts"

/** The same with another account in place of the demo's. */
const billedTo = <A>(value: A, account: string): A =>
  JSON.parse(JSON.stringify(value), (_, text: unknown) => text === demoAccount ? account : text) as A

const told = ({ charges, events, shipments }: Pick<Scene, "charges" | "events" | "shipments">): string =>
  [
    ...(shipments.length === 0 ? [] : [counted(shipments.length, "shipment")]),
    ...events.map(({ location, shipment, type }) => `${shipment.shipmentId} ${type}${location?.city === undefined ? "" : ` in ${location.city}`}`),
    ...charges.map(({ pfc }) => `${pfc.pfc.header.function} of PRO ${pfc.referenceNumbers.pro}`)
  ].join("; ")

export const simulateCommand = Command.make(
  "simulate",
  {
    ...carrierFlags,
    account: Flag.String("account").pipe(Flag.withDescription(`Whose freight it is: the account of a customer's key; default ${demoAccount}`), Flag.withDefault(demoAccount)),
    pace: Flag.Finite("pace").pipe(Flag.withDescription("Seconds between one event and the next; 0 writes all at once; default 2"), Flag.withDefault(2)),
    json: jsonFlag
  },
  Effect.fnUntraced(function*({ account, json, pace, ...flags }) {
    if (!(pace >= 0 && pace <= 3600)) return yield* unusable("--pace is a number of seconds from 0 to 3600.")
    const carrier = new IntakeClient(yield* asCarrier(flags))
    // what happens is in the past, however fast it is told
    const startedAt = (yield* Clock.currentTimeMillis) - journeyMillis
    const scenes = billedTo(journeyFrom(startedAt), account)
    const counts = { shipments: 0, events: 0, charges: 0 }
    for (const [index, scene] of scenes.entries()) {
      if (index > 0 && pace > 0) yield* Effect.sleep(pace * 1000)
      const { charges, events, shipments } = scene
      yield* called(async (signal) => {
        // the shipments before their events: nobody follows what nobody knows
        if (shipments.length > 0) await carrier.registerShipments(shipments, { signal })
        if (events.length > 0) await carrier.publishTransitEvents(events, { signal })
        if (charges.length > 0) await carrier.publishFreightCharges(charges as ReadonlyArray<FreightBillChange>, { signal })
      })
      counts.shipments += shipments.length
      counts.events += events.length
      counts.charges += charges.length
      yield* progress(`${index + 1}/${scenes.length}  ${told(scene)}`)
    }
    const shipments = shipmentsOf(startedAt).map(({ bolNumber, proNumber, shipmentId }) => ({ shipmentId, proNumber, bolNumber }))
    yield* answer(json, {
      json: { account, shipments, written: counts },
      text: [
        `Written for ${account}: ${counted(counts.shipments, "shipment")}, ${counted(counts.events, "event")} and ${counted(counts.charges, "version")} of their bills.`,
        ...shipments.map(({ proNumber, shipmentId }) => `  ${shipmentId}  PRO ${proNumber}`)
      ].join("\n")
    })
  })
).pipe(
  Command.withDescription("Play three shipments from pick-up to delivery into a server: shipments, events and freight bills, with a carrier's key"),
  Command.withExamples([
    { command: "waybill simulate --account A-100", description: "A minute of freight for that customer, with the carrier's key in WAYBILL_API_KEY" },
    { command: "waybill simulate --account A-100 --pace 0 --json", description: "All at once, for a script" }
  ])
)
