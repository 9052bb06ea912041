/** `waybill pickups`: lists the pickups of a tenant, and decides on one that waits. */
import { type OperatorPickup, pickupWindowText } from "@waybill/client"
import { Option } from "effect"
import { Argument, Flag } from "effect/cli"
import { commandGroup, firstOf, given, limitFault, limitFlag, printFirst, tenantCommand } from "./shared/OperatorCommands.ts"
import { counted, printResult } from "./shared/Output.ts"
import { printable } from "../Printable.ts"

const decisions = ["accept", "reject", "call"] as const

const rowOf = (pickup: OperatorPickup): ReadonlyArray<string> => [
  pickup.pickupId,
  pickup.confirmationNumber ?? "no number",
  `${pickup.status}${pickup.isTest ? ", a test" : ""}`,
  pickup.waitingFor === null ? "decided" : `${pickup.waitingFor} waits since ${pickup.waitingSince}`,
  pickup.client,
  pickupWindowText(pickup.readyWindow),
  `${pickup.origin.name}, ${pickup.origin.city} ${pickup.origin.state} ${pickup.origin.zip}`
].map(printable)

const listCommand = tenantCommand("list", {
  description: "List pickups of every client, the latest order first",
  examples: [{ command: "waybill pickups list --tenant acme --waiting", description: "Pickups that wait for the carrier's decision" }],
  flags: {
    waiting: Flag.Boolean("waiting").pipe(Flag.withDescription("Only pickups that wait for the carrier's decision, the oldest order first"), Flag.withDefault(false)),
    limit: limitFlag
  },
  check: limitFault,
  call: ({ operator, tenantId }, { limit, waiting }, options) => firstOf(limit, (page) => operator.allPickups(tenantId, { state: waiting ? "waiting" : "all", ...page }, options)),
  print: (asJson, found, { limit, waiting }) =>
    printFirst(asJson, found, limit, {
      cellsOf: rowOf,
      none: waiting ? "No pickup waits for a decision." : "No pickups.",
      more: (shown) => `The first ${counted(shown, "pickup")}; there are more. Raise --limit.`
    })
})

const decideCommand = tenantCommand("decide", {
  description: "Decide for the carrier on a pickup that waits. The shipper's call is answered with it",
  examples: [
    { command: "waybill pickups decide --tenant acme 0199a6c2-5f1e-7b7a-9d53-0b8a4c6e2f10 accept --scac WAYB", description: "Accept an order" },
    { command: `waybill pickups decide --tenant acme 0199a6c2-5f1e-7b7a-9d53-0b8a4c6e2f10 reject --message "No truck is free."`, description: "Reject an order with a reason" }
  ],
  flags: {
    id: Argument.String("pickupId").pipe(Argument.withDescription("Id of the pickup; or its number, if a change of it waits")),
    decision: Argument.Literals("decision", decisions).pipe(Argument.withDescription("accept, reject or call; call asks the shipper to call the carrier")),
    number: Flag.String("number").pipe(Flag.withDescription("With accept: the carrier's pickup number; default: the next number of the service"), Flag.optional),
    scac: Flag.String("scac").pipe(Flag.withDescription("SCAC of the carrier"), Flag.optional),
    carrierName: Flag.String("carrier-name").pipe(Flag.withDescription("Name of the carrier"), Flag.optional),
    message: Flag.String("message").pipe(Flag.withDescription("Text for the shipper"), Flag.optional)
  },
  check: ({ decision, number }) => decision !== "accept" && Option.isSome(number) ? "--number is for accept only." : undefined,
  call: ({ operator, tenantId }, { carrierName, decision, id, message, number, scac }, options) =>
    operator.decidePickup(tenantId, id, { decision, ...given({ confirmationNumber: number, scac, carrierName, message }) }, options),
  print: (asJson, decided) =>
    printResult(asJson, {
      json: decided,
      text: printable(`${decided.pickupId} is ${decided.status}${decided.carrierPickupNumber === null ? "" : `, number ${decided.carrierPickupNumber}`}.`)
    })
})

export const pickupsCommand = commandGroup("pickups", "List pickups, and decide on those that wait for the carrier", [listCommand, decideCommand])
