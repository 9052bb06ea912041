/** `waybill deliveries`: list deliveries, or show one. */
import type { DeliveryState } from "@waybill/client"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { ProcessContext } from "../ProcessContext.ts"
import { deliveryRow, deliveryText } from "./shared/Deliveries.ts"
import { clientFlag, endpointFlag, errorFlag, rangeFault, untilFlag } from "./shared/Filters.ts"
import { instantFlag } from "./shared/Instants.ts"
import { firstOf, given, limitFault, limitFlag, printFirst } from "./shared/OperatorCommands.ts"
import { usageError } from "./shared/Outcome.ts"
import { counted, jsonFlag, printResult } from "./shared/Output.ts"
import { callServer, operatorOfTenant, operatorFlags } from "./shared/Remote.ts"

const states = ["sending", "waiting", "delivered", "dead", "dismissed", "cancelled"] as const satisfies ReadonlyArray<DeliveryState>

const filterNames = ["state", "subscription", "client", "endpoint", "error", "since", "until"] as const

const dayMillis = 86_400_000

export const deliveriesCommand = Command.make(
  "deliveries",
  {
    id: Argument.String("deliveryId").pipe(Argument.withDescription("Show one delivery with its body and every attempt"), Argument.optional),
    ...operatorFlags,
    state: Flag.Literals("state", states).pipe(Flag.withDescription("Only deliveries in this state; dead: dead letters"), Flag.optional),
    subscription: Flag.String("subscription").pipe(Flag.withDescription("Only deliveries of this subscription"), Flag.optional),
    client: clientFlag("deliveries"),
    endpoint: endpointFlag("deliveries"),
    error: errorFlag("deliveries that wait for a retry or are dead letters, and"),
    since: instantFlag("since").pipe(Flag.withDescription("Only deliveries created since then, such as 15m, 2h or 2026-11-20T08:15:00Z; default 24h"), Flag.optional),
    until: untilFlag("deliveries"),
    limit: limitFlag,
    body: Flag.Boolean("body").pipe(Flag.withDescription("Print only the body of one delivery, byte for byte"), Flag.withDefault(false)),
    json: jsonFlag
  },
  Effect.fnUntraced(function*(flags) {
    if (flags.body && flags.json) return yield* usageError("Give --body or --json, not both.")
    const misplaced = filterNames.filter((name) => Option.isSome(flags.id) && flags[name]._tag === "Some").map((name) => `--${name}`)
    if (misplaced.length > 0) return yield* usageError(`${misplaced.join(", ")}: for lists only. Leave the delivery's id out, or these filters.`)
    const { operator, tenantId } = yield* operatorOfTenant(flags)
    if (Option.isSome(flags.id)) {
      const deliveryId = flags.id.value
      const delivery = yield* callServer((signal) => operator.getDelivery(tenantId, deliveryId, { signal }))
      if (flags.body) return (yield* ProcessContext).writeOutput(delivery.body)
      return yield* printResult(flags.json, { json: delivery, text: deliveryText(delivery) })
    }
    if (flags.body) return yield* usageError("--body needs a delivery's id.")
    const fault = limitFault(flags) ?? rangeFault(flags)
    if (fault !== undefined) return yield* usageError(fault)

    const { client, endpoint, error, limit, state, subscription, until } = flags
    const since = Option.getOrElse(flags.since, () => new Date(Date.now() - dayMillis))
    const filters = { ...given({ state, subscriptionId: subscription, client, endpoint, error, until }), since }
    const found = yield* callServer((signal) => firstOf(limit, (page) => operator.allDeliveries(tenantId, { ...filters, ...page }, { signal })))
    yield* printFirst(flags.json, found, limit, {
      cellsOf: deliveryRow,
      none: `No such delivery since ${since.toISOString()}.`,
      more: (shown) => `The newest ${counted(shown, "delivery", "deliveries")}; there are more. Raise --limit, or narrow it down.`
    })
  })
).pipe(
  Command.withDescription("List deliveries of a tenant, newest first, or show one with its body and every attempt"),
  Command.withExamples([
    { command: "waybill deliveries --tenant acme --state dead --since 7d", description: "Dead letters of the last week" },
    { command: "waybill deliveries --tenant acme --endpoint tms.example --error timeout", description: "What one receiver did not answer in time" },
    { command: "waybill deliveries --tenant acme 0199a6c2-5f1e-7b7a-9d53-0b8a4c6e2f10", description: "One delivery with body and attempts" },
    { command: "waybill deliveries --tenant acme --since 1h --json | jq -r .state | sort | uniq -c", description: "Deliveries of the last hour, by state" }
  ])
)
