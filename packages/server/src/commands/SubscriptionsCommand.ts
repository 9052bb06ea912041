/** `waybill subscriptions`: lists subscriptions and manages one. */
import type { OperatorClient, OperatorSubscription, PurgeResult, SubscriptionState } from "@waybill/client"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { editCommand } from "./SubscriptionEditCommand.ts"
import { clientFlag, endpointFlag, errorFlag, given, inSteps } from "./shared/Filters.ts"
import { usageError } from "./shared/Outcome.ts"
import { counted, jsonFlag, printable, printProgress, printResult, printRows, table } from "./shared/Output.ts"
import { callServer, callServerForAll, operatorOfTenant, operatorFlags } from "./shared/Remote.ts"

const states = ["active", "paused", "inactive"] as const satisfies ReadonlyArray<SubscriptionState>

const id = Argument.String("subscriptionId").pipe(Argument.withDescription("Id of the subscription"))

const sample = "0199a6c2-5f1e-7b7a-9d53-0b8a4c6e2f10"

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

const listCommand = Command.make(
  "list",
  {
    ...operatorFlags,
    ...filterFlags,
    error: errorFlag("subscriptions"),
    limit: Flag.Int("limit").pipe(Flag.withDescription("Maximum number to list; default 100"), Flag.withDefault(100)),
    json: jsonFlag
  },
  Effect.fnUntraced(function*(flags) {
    if (flags.limit < 1) return yield* usageError("--limit is a number from 1.")
    const { operator, tenantId } = yield* operatorOfTenant(flags)
    const { client, endpoint, error, state } = flags
    const query = { ...given({ client, endpoint, error, state }), limit: Math.min(500, flags.limit + 1) }
    const found = yield* callServerForAll((options) => operator.allSubscriptions(tenantId, query, options), flags.limit + 1)
    const shown = found.slice(0, flags.limit)
    yield* printRows(flags.json, shown, rowOf, "No such subscription.")
    if (found.length > shown.length) yield* printProgress(`The first ${counted(shown.length, "subscription")}; there are more. Raise --limit, or narrow it down.`)
  })
).pipe(
  Command.withDescription("List subscriptions of every client and area"),
  Command.withExamples([{ command: "waybill subscriptions list --tenant acme --client shipper-tms --state paused", description: "Paused subscriptions of one client" }])
)

/** A command that calls the server about one subscription and prints it. */
const oneCommand = (
  name: "show" | "resume",
  description: string,
  call: (operator: OperatorClient, tenantId: string, id: string, signal: AbortSignal) => Promise<OperatorSubscription>
) =>
  Command.make(
    name,
    { id, ...operatorFlags, json: jsonFlag },
    Effect.fnUntraced(function*({ id, json, ...flags }) {
      const { operator, tenantId } = yield* operatorOfTenant(flags)
      const subscription = yield* callServer((signal) => call(operator, tenantId, id, signal))
      yield* printResult(json, { json: subscription, text: textOf(subscription) })
    })
  ).pipe(Command.withDescription(description), Command.withExamples([{ command: `waybill subscriptions ${name} --tenant acme ${sample}`, description }]))

const pauseCommand = Command.make(
  "pause",
  {
    id,
    ...operatorFlags,
    reason: Flag.String("reason").pipe(Flag.withDescription("Reason, which its client can read")),
    json: jsonFlag
  },
  Effect.fnUntraced(function*({ id, json, reason, ...flags }) {
    const { operator, tenantId } = yield* operatorOfTenant(flags)
    const subscription = yield* callServer((signal) => operator.pause(tenantId, id, { reason }, { signal }))
    yield* printResult(json, { json: subscription, text: `${id} is paused. Nothing more is sent until an operator resumes it.` })
  })
).pipe(
  Command.withDescription("Pause a subscription. Its client cannot resume it"),
  Command.withExamples([{ command: `waybill subscriptions pause --tenant acme ${sample} --reason "The receiver floods us."`, description: "Until an operator resumes it" }])
)

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
    if ((Object.keys(filter).length > 0) === ids.length > 0) return yield* usageError("Give subscriptions' ids, or at least one of --client, --endpoint and --state.")
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
    { command: "waybill subscriptions purge --tenant acme --endpoint old-tms.example", description: "Everything that waits for a receiver that is gone" },{ command: `waybill subscriptions purge --tenant acme ${sample}`, description: "Drop an obsolete backlog" }])
)

const deleteCommand = Command.make(
  "delete",
  { id, ...operatorFlags, json: jsonFlag },
  Effect.fnUntraced(function*({ id, json, ...flags }) {
    const { operator, tenantId } = yield* operatorOfTenant(flags)
    yield* callServer((signal) => operator.deleteSubscription(tenantId, id, { signal }))
    yield* printResult(json, { json: { subscriptionId: id, deleted: true }, text: `${id} is deleted.` })
  })
).pipe(
  Command.withDescription("Delete a subscription, like a call of its client"),
  Command.withExamples([{ command: `waybill subscriptions delete --tenant acme ${sample}`, description: "Nothing more is sent" }])
)

export const subscriptionsCommand = Command.make("subscriptions").pipe(
  Command.withDescription("List, show, edit, pause, resume, purge and delete subscriptions of any area"),
  Command.withSubcommands([
    listCommand,
    oneCommand("show", "Show a subscription with its backlog, dead letters, and why nothing is sent", (operator, tenantId, id, signal) => operator.getSubscription(tenantId, id, { signal })),
    editCommand,
    pauseCommand,
    oneCommand("resume", "Resume a paused subscription, also if its client or an operator paused it", (operator, tenantId, id, signal) => operator.resume(tenantId, id, { signal })),
    purgeCommand,
    deleteCommand
  ])
)
