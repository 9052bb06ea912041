/**
 * `waybill retry`, `dismiss`, `recover` and `replay`: sends one delivery, all dead letters or past events again, and
 * dismisses dead letters.
 */
import type { BulkResult, DeadLettersFilter, OperatorClient } from "@waybill/client"
import { Console, Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { deadLetterFilterOf, deadLetterFlags, inSteps, rangeFault } from "./shared/Filters.ts"
import { instantFlag } from "./shared/Instants.ts"
import { given, tenantCommand } from "./shared/OperatorCommands.ts"
import { usageError } from "./shared/Outcome.ts"
import { counted, jsonFlag, printProgress, printResult } from "./shared/Output.ts"
import { callServer, operatorOfTenant, operatorFlags } from "./shared/Remote.ts"

const subscription = Argument.String("subscriptionId").pipe(Argument.withDescription("Id of the subscription"))

/** Number of items from which progress is printed. */
const many = 10

const ids = Argument.String("deliveryId").pipe(Argument.withDescription("One or several; without one, all dead letters that match the filters"), Argument.variadic({ min: 0 }))

const whichDeadLetters = "Give either deliveries' ids, or at least one of --subscription, --client, --endpoint, --error, --since and --until."

interface DeadLetterAction {
  readonly name: "retried" | "dismissed"
  readonly one: (operator: OperatorClient, tenantId: string, deliveryId: string, signal: AbortSignal) => Promise<void>
  readonly matching: (operator: OperatorClient, tenantId: string, filter: DeadLettersFilter, signal: AbortSignal) => Promise<BulkResult>
  readonly textOfOne: (deliveryId: string) => string
  readonly textOfMany: (dead: string) => string
}

/** Acts on the deliveries with the given ids, or on every dead letter that matches, step by step. */
const deadLetterCommand = <const Name extends string>(command: Name, { matching, name, one, textOfMany, textOfOne }: DeadLetterAction) =>
  Command.make(
    command,
    { ids, ...operatorFlags, ...deadLetterFlags, json: jsonFlag },
    Effect.fnUntraced(function*({ ids, json, ...flags }) {
      const filter = deadLetterFilterOf(flags)
      const filtered = Object.keys(filter).length > 0
      if (filtered === ids.length > 0) return yield* usageError(whichDeadLetters)
      const fault = rangeFault(flags)
      if (fault !== undefined) return yield* usageError(fault)
      const { operator, tenantId } = yield* operatorOfTenant(flags)
      if (filtered) {
        const countOf = (steps: ReadonlyArray<BulkResult>) => steps.reduce((sum, { changed }) => sum + changed, 0)
        const steps = yield* inSteps((cursor) => callServer((signal) => matching(operator, tenantId, { ...filter, cursor }, signal)), (steps) => `${countOf(steps)} ${name} so far`)
        const count = countOf(steps)
        return yield* printResult(json, { json: { [name]: count }, text: count === 0 ? "No dead letter matches." : textOfMany(counted(count, "dead letter")) })
      }
      for (const [index, deliveryId] of ids.entries()) {
        yield* callServer((signal) => one(operator, tenantId, deliveryId, signal))
        yield* printResult(json, { json: { deliveryId, [name]: true }, text: textOfOne(deliveryId) })
        if (ids.length >= many && (index + 1) % many === 0) yield* printProgress(`${index + 1} of ${ids.length}`)
      }
    })
  )

export const retryCommand = deadLetterCommand("retry", {
  name: "retried",
  one: (operator, tenantId, deliveryId, signal) => operator.retryDelivery(tenantId, deliveryId, { signal }),
  matching: (operator, tenantId, filter, signal) => operator.retryDeadLetters(tenantId, filter, { signal }),
  textOfOne: (deliveryId) => `${deliveryId} is queued again.`,
  textOfMany: (dead) => `Queued again: ${dead}.`
}).pipe(
  Command.withDescription("Send deliveries again, or all dead letters that match: the same bytes with the same id and a full series of attempts. Of several ids, stops at the first refused one"),
  Command.withExamples([
    { command: "waybill retry --tenant acme --endpoint tms.example --error timeout --since 6h", description: "All dead letters of a receiver that was too slow" },
    { command: "waybill retry --tenant acme 0199a6c2-5f1e-7b7a-9d53-0b8a4c6e2f10", description: "One delivery" }
  ])
)

export const dismissCommand = deadLetterCommand("dismiss", {
  name: "dismissed",
  one: (operator, tenantId, deliveryId, signal) => operator.dismissDelivery(tenantId, deliveryId, { signal }),
  matching: (operator, tenantId, filter, signal) => operator.dismissDeadLetters(tenantId, filter, { signal }),
  textOfOne: (deliveryId) => `${deliveryId} is dismissed.`,
  textOfMany: (dead) => `Dismissed: ${dead}.`
}).pipe(
  Command.withDescription("Dismiss dead letters, by id or all that match: they are no longer counted or recovered. Of several ids, stops at the first refused one"),
  Command.withExamples([
    { command: "waybill dismiss --tenant acme --client shipper-tms --until 30d", description: "All dead letters of a client that are older than a month" },
    { command: "waybill dismiss --tenant acme 0199a6c2-5f1e-7b7a-9d53-0b8a4c6e2f10", description: "One dead letter that is obsolete" }
  ])
)

export const recoverCommand = tenantCommand("recover", {
  description: "Send every dead letter of a subscription again, with the same ids",
  examples: [
    { command: "waybill recover --tenant acme 0199a6c2-5f1e-7b7a-9d53-0b8a4c6e2f10 --since 6h", description: "After a receiver was down for some hours" }
  ],
  flags: {
    subscription,
    since: instantFlag("since").pipe(Flag.withDescription("Only dead letters since then, such as 2h, 3d or 2026-11-20T08:15:00Z"))
  },
  call: ({ operator, tenantId }, { since, subscription }, options) => operator.recover(tenantId, subscription, { since }, options),
  print: (asJson, recovered, { since, subscription }) =>
    printResult(asJson, {
      json: { subscriptionId: subscription, since: since.toISOString(), recovered },
      text: recovered === 0
        ? `There are no dead letters of ${subscription} since ${since.toISOString()}.`
        : `${counted(recovered, "dead letter")} of ${subscription} since ${since.toISOString()} ${recovered === 1 ? "goes" : "go"} out again.`
    })
})

export const replayCommand = tenantCommand("replay", {
  description: "Send past transit events, or past changes of pickups, again as new deliveries",
  examples: [
    { command: "waybill replay --tenant acme 0199a6c2-5f1e-7b7a-9d53-0b8a4c6e2f10 --from 3d --shipment S-1 --shipment S-2", description: "Two shipments whose events a receiver lost" }
  ],
  flags: {
    subscription,
    from: instantFlag("from").pipe(Flag.withDescription("Start of the range: publication time, such as 2h, 3d or 2026-11-20T08:15:00Z")),
    to: instantFlag("to").pipe(Flag.withDescription("End of the range; default: now"), Flag.optional),
    shipments: Flag.String("shipment").pipe(Flag.withDescription("Only events of this shipment; can be given several times"), Flag.atLeast(0))
  },
  check: ({ from, to }) => Option.isSome(to) && to.value < from ? "--to is before --from." : undefined,
  call: ({ operator, tenantId }, { from, shipments, subscription, to }, options) =>
    operator.replay(tenantId, subscription, { from, ...given({ to }), ...(shipments.length === 0 ? {} : { shipmentIds: shipments }) }, options),
  print: (asJson, queued, { from, shipments, subscription, to }) => Effect.gen(function*() {
    yield* printResult(asJson, {
      json: { subscriptionId: subscription, from: from.toISOString(), to: Option.getOrUndefined(to)?.toISOString() ?? null, shipmentIds: shipments, queued },
      text: queued === 0
        ? `There is nothing to replay for ${subscription} since ${from.toISOString()}.`
        : `${counted(queued, "entry", "entries")} since ${from.toISOString()} ${queued === 1 ? "goes" : "go"} out again for ${subscription}, as new deliveries.`
    })
    if (queued === 0) yield* Console.error("A replay is limited to what the subscription's filters and its client admit now.")
  })
})
