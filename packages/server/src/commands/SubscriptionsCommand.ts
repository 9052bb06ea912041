/** `waybill subscriptions`: lists subscriptions and manages one. */
import type { OperatorSubscription, PurgeResult, SubscriptionState } from "@waybill/client"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { editCommand, sampleId } from "./SubscriptionEditCommand.ts"
import { clientFlag, endpointFlag, errorFlag, inSteps } from "./shared/Filters.ts"
import { commandGroup, firstOf, given, limitFault, limitFlag, printFirst, tenantCommand } from "./shared/OperatorCommands.ts"
import { usageError } from "./shared/Outcome.ts"
import { counted, jsonFlag, printResult, table } from "./shared/Output.ts"
import { printable } from "../Printable.ts"
import { callServer, operatorOfTenant, operatorFlags } from "./shared/Remote.ts"

const states = ["active", "paused", "inactive"] as const satisfies ReadonlyArray<SubscriptionState>

const id = Argument.String("subscriptionId").pipe(Argument.withDescription("Id of the subscription"))

const many = (count: number): string => count >= 1000 ? "1000+" : String(count)

const pausers: Readonly<Record<string, string>> = { client: "its client", service: "the service", operator: "the operator" }

const stateText = ({ pausedBy, state }: OperatorSubscription): string => pausedBy === null ? state : `${state} by ${pausers[pausedBy] ?? pausedBy}`

const rowOf = (subscription: OperatorSubscription): ReadonlyArray<string> => [
  subscription.subscriptionId,
  subscription.area,
  printable(subscription.client),
  stateText(subscription),
  `${many(subscription.waiting)} waiting, ${many(subscription.inFlight)} in progress, ${many(subscription.dead)} dead`,
  printable(subscription.endpointUrl)
]

const textOf = (subscription: OperatorSubscription): string => {
  const { breaker, delivery, lastAttempt } = subscription
  return table([
    ["subscription", subscription.subscriptionId],
    ["area", subscription.area],
    ["client", subscription.client],
    ["endpoint", subscription.endpointUrl],
    ["secret", subscription.hmacSecretId],
    ["filters", JSON.stringify(subscription.filters)],
    ["accounts", subscription.accounts === null ? "all of its client" : subscription.accounts.join(", ")],
    ["delivery", JSON.stringify(delivery)],
    ["state", `${stateText(subscription)} since ${subscription.since}`],
    ...subscription.reason === null ? [] : [["reason", subscription.reason]],
    ...subscription.held ? [["access", "none at present: its client or its tenant"]] : [],
    ["breaker", `${breaker.state}, ${counted(breaker.failures, "failure")} in a row${breaker.until === null ? "" : `, until ${breaker.until}`}`],
    ["waiting", `${many(subscription.waiting)}${subscription.oldestWaitingAt === null ? "" : `, the oldest since ${subscription.oldestWaitingAt}`}`],
    ["in progress", many(subscription.inFlight)],
    ["dead", many(subscription.dead)],
    ["dropped", String(subscription.dropped)],
    ["last attempt", lastAttempt === null ? "none" : `${lastAttempt.outcome}${lastAttempt.status === null ? "" : ` ${lastAttempt.status}`} at ${lastAttempt.at}`]
  ].map(([name, value]) => [name!, printable(value!)]))
}

const filterFlags = {
  client: clientFlag("subscriptions"),
  endpoint: endpointFlag("subscriptions"),
  state: Flag.Literals("state", states).pipe(Flag.withDescription("Only subscriptions in this state"), Flag.optional)
}

const listCommand = tenantCommand("list", {
  description: "List subscriptions of every client and area",
  examples: [{ command: "waybill subscriptions list --tenant acme --client shipper-tms --state paused", description: "Paused subscriptions of one client" }],
  flags: {
    ...filterFlags,
    error: errorFlag("subscriptions"),
    inTrouble: Flag.Boolean("in-trouble").pipe(Flag.withDescription("Only subscriptions that the service or an operator paused, whose breaker is not closed, or that have dead letters"), Flag.withDefault(false)),
    limit: limitFlag
  },
  check: limitFault,
  call: ({ operator, tenantId }, { inTrouble, limit, ...filters }, options) => firstOf(limit, (page) => operator.allSubscriptions(tenantId, { ...given(filters), inTrouble, ...page }, options)),
  print: (asJson, found, { limit }) =>
    printFirst(asJson, found, limit, {
      cellsOf: rowOf,
      none: "No such subscription.",
      more: (shown) => `The first ${counted(shown, "subscription")}; there are more. Raise --limit, or narrow it down.`
    })
})

const showDescription = "Show a subscription with its backlog, dead letters, and why nothing is sent"

const showCommand = tenantCommand("show", {
  description: showDescription,
  examples: [{ command: `waybill subscriptions show --tenant acme ${sampleId}`, description: showDescription }],
  flags: { id },
  call: ({ operator, tenantId }, { id }, options) => operator.getSubscription(tenantId, id, options),
  print: (asJson, subscription) => printResult(asJson, { json: subscription, text: textOf(subscription) })
})

const resumeDescription = "Resume a paused subscription, also if its client or an operator paused it"

const resumeCommand = tenantCommand("resume", {
  description: resumeDescription,
  examples: [{ command: `waybill subscriptions resume --tenant acme ${sampleId}`, description: resumeDescription }],
  flags: { id },
  call: ({ operator, tenantId }, { id }, options) => operator.resume(tenantId, id, options),
  print: (asJson, subscription) => printResult(asJson, { json: subscription, text: textOf(subscription) })
})

const pauseCommand = tenantCommand("pause", {
  description: "Pause a subscription. Its client cannot resume it",
  examples: [{ command: `waybill subscriptions pause --tenant acme ${sampleId} --reason "The receiver floods us."`, description: "Until an operator resumes it" }],
  flags: { id, reason: Flag.String("reason").pipe(Flag.withDescription("Reason, which its client can read")) },
  call: ({ operator, tenantId }, { id, reason }, options) => operator.pause(tenantId, id, { reason }, options),
  print: (asJson, subscription, { id }) => printResult(asJson, { json: subscription, text: `${id} is paused. Nothing more is sent until an operator resumes it.` })
})

const purgeCommand = Command.make(
  "purge",
  {
    ids: Argument.String("subscriptionId").pipe(Argument.withDescription("One or several; without one, all subscriptions that match the filters"), Argument.variadic({ min: 0 })),
    ...operatorFlags,
    ...filterFlags,
    json: jsonFlag
  },
  Effect.fnUntraced(function*({ client: owner, endpoint, ids, json, state, ...flags }) {
    const filter = given({ client: owner, endpoint, state })
    if ((Object.keys(filter).length > 0) === ids.length > 0) return yield* usageError("Give either subscriptions' ids, or at least one of --client, --endpoint and --state.")
    const { operator, tenantId } = yield* operatorOfTenant(flags)
    if (ids.length === 1) {
      const dropped = yield* callServer((signal) => operator.purge(tenantId, ids[0]!, { signal }))
      return yield* printResult(json, { json: { subscriptionId: ids[0], dropped }, text: `${counted(dropped, "entry", "entries")} of ${ids[0]} dropped.` })
    }
    const total = (steps: ReadonlyArray<PurgeResult>, what: "dropped" | "subscriptions") => steps.reduce((sum, step) => sum + step[what], 0)
    const chosen = ids.length > 0 ? { subscriptionIds: ids } : filter
    const steps = yield* inSteps(
      (cursor) => callServer((signal) => operator.purgeMatching(tenantId, { ...chosen, cursor }, { signal })),
      (steps) => `${counted(total(steps, "dropped"), "entry", "entries")} dropped so far`
    )
    const [subscriptions, dropped] = [total(steps, "subscriptions"), total(steps, "dropped")]
    const text = subscriptions === 0
      ? "No subscription that matches has waiting entries."
      : `${counted(dropped, "entry", "entries")} of ${counted(subscriptions, "subscription")} dropped.`
    yield* printResult(json, { json: { subscriptions, dropped }, text })
  })
).pipe(
  Command.withDescription("Drop waiting entries of subscriptions and cancel their retries"),
  Command.withExamples([
    { command: "waybill subscriptions purge --tenant acme --endpoint old-tms.example", description: "Everything that waits for a receiver that is gone" },
    { command: `waybill subscriptions purge --tenant acme ${sampleId}`, description: "Drop an obsolete backlog" }
  ])
)

const deleteCommand = tenantCommand("delete", {
  description: "Delete a subscription, like a call of its client",
  examples: [{ command: `waybill subscriptions delete --tenant acme ${sampleId}`, description: "Nothing more is sent" }],
  flags: { id },
  call: ({ operator, tenantId }, { id }, options) => operator.deleteSubscription(tenantId, id, options),
  print: (asJson, _, { id }) => printResult(asJson, { json: { subscriptionId: id, deleted: true }, text: `${id} is deleted.` })
})

export const subscriptionsCommand = commandGroup("subscriptions", "List, show, edit, pause, resume, purge and delete subscriptions of any area", [listCommand, showCommand, editCommand, pauseCommand, resumeCommand, purgeCommand, deleteCommand])
