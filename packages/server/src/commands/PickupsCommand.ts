/** `waybill pickups`: lists the pickups of a tenant, and decides on one that waits. */
import type { OperatorPickup } from "@waybill/client"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { usageError } from "./shared/Outcome.ts"
import { counted, jsonFlag, printable, printProgress, printResult, printRows } from "./shared/Output.ts"
import { callServer, callServerForAll, operatorOfTenant, operatorFlags } from "./shared/Remote.ts"

const decisions = ["accept", "reject", "call"] as const

const windowOf = ({ closeTime, readyDate, readyTime, timeZone }: OperatorPickup["readyWindow"]): string =>
  [readyDate, [readyTime, closeTime].flatMap((time) => time ?? []).join("-"), timeZone].flatMap((text) => text ?? []).filter((text) => text !== "").join(" ")

const rowOf = (pickup: OperatorPickup): ReadonlyArray<string> => [
  pickup.pickupId,
  pickup.confirmationNumber ?? "no number",
  `${pickup.status}${pickup.isTest ? ", a test" : ""}`,
  pickup.waitingFor === null ? "decided" : `${pickup.waitingFor} waits since ${pickup.waitingSince}`,
  pickup.client,
  windowOf(pickup.readyWindow),
  `${pickup.origin.name}, ${pickup.origin.city} ${pickup.origin.state} ${pickup.origin.zip}`
].map(printable)

const listCommand = Command.make(
  "list",
  {
    ...operatorFlags,
    waiting: Flag.Boolean("waiting").pipe(Flag.withDescription("Only pickups that wait for the carrier's decision, the oldest order first"), Flag.withDefault(false)),
    limit: Flag.Int("limit").pipe(Flag.withDescription("Maximum number to list; default 100"), Flag.withDefault(100)),
    json: jsonFlag
  },
  Effect.fnUntraced(function*({ json, limit, waiting, ...flags }) {
    if (limit < 1) return yield* usageError("--limit is a number from 1.")
    const { operator, tenantId } = yield* operatorOfTenant(flags)
    // One more than shown, to see whether there are more.
    const query = { state: waiting ? "waiting" : "all", limit: Math.min(500, limit + 1) } as const
    const found = yield* callServerForAll((options) => operator.allPickups(tenantId, query, options), limit + 1)
    const shown = found.slice(0, limit)
    yield* printRows(json, shown, rowOf, waiting ? "No pickup waits for a decision." : "No pickups.")
    if (found.length > shown.length) yield* printProgress(`The first ${counted(shown.length, "pickup")}; there are more. Raise --limit.`)
  })
).pipe(
  Command.withDescription("List pickups of every client, the latest order first"),
  Command.withExamples([{ command: "waybill pickups list --tenant acme --waiting", description: "Pickups that wait for the carrier's decision" }])
)

const decideCommand = Command.make(
  "decide",
  {
    id: Argument.String("pickupId").pipe(Argument.withDescription("Id of the pickup; or its number, if a change of it waits")),
    decision: Argument.Literals("decision", decisions).pipe(Argument.withDescription("accept, reject or call; call asks the shipper to call the carrier")),
    ...operatorFlags,
    number: Flag.String("number").pipe(Flag.withDescription("With accept: the carrier's pickup number; default: the next number of the service"), Flag.optional),
    scac: Flag.String("scac").pipe(Flag.withDescription("SCAC of the carrier"), Flag.optional),
    carrierName: Flag.String("carrier-name").pipe(Flag.withDescription("Name of the carrier"), Flag.optional),
    message: Flag.String("message").pipe(Flag.withDescription("Text for the shipper"), Flag.optional),
    json: jsonFlag
  },
  Effect.fnUntraced(function*({ carrierName, decision, id, json, message, number, scac, ...flags }) {
    if (decision !== "accept" && Option.isSome(number)) return yield* usageError("--number is for accept only.")
    const { operator, tenantId } = yield* operatorOfTenant(flags)
    const given = { confirmationNumber: number, scac, carrierName, message }
    const details = Object.fromEntries(Object.entries(given).flatMap(([name, value]) => Option.isSome(value) ? [[name, value.value]] : []))
    const decided = yield* callServer((signal) => operator.decidePickup(tenantId, id, { decision, ...details }, { signal }))
    yield* printResult(json, {
      json: decided,
      text: printable(`${decided.pickupId} is ${decided.status}${decided.carrierPickupNumber === null ? "" : `, number ${decided.carrierPickupNumber}`}.`)
    })
  })
).pipe(
  Command.withDescription("Decide for the carrier on a pickup that waits. The shipper's call is answered with it"),
  Command.withExamples([
    { command: "waybill pickups decide --tenant acme 0199a6c2-5f1e-7b7a-9d53-0b8a4c6e2f10 accept --scac WAYB", description: "Accept an order" },
    { command: `waybill pickups decide --tenant acme 0199a6c2-5f1e-7b7a-9d53-0b8a4c6e2f10 reject --message "No truck is free."`, description: "Reject an order with a reason" }
  ])
)

export const pickupsCommand = Command.make("pickups").pipe(
  Command.withDescription("List pickups, and decide on those that wait for the carrier"),
  Command.withSubcommands([listCommand, decideCommand])
)
