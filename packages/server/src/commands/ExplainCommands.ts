/** `waybill explain` and `waybill health`: why a subject was not sent, and the delivery health of each tenant. */
import type { Explanation, ExplainSubject } from "@waybill/client"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { usageError } from "./shared/Outcome.ts"
import { jsonFlag, printable, printResult, table } from "./shared/Output.ts"
import { callServer, connectionFlags, operatorOfAllTenants, operatorOfTenant, operatorFlags } from "./shared/Remote.ts"

const textOf = ({ deliveries, reasons, verdict, waitingFor }: Explanation): string => [
  `verdict: ${verdict}${waitingFor === null ? "" : `, for ${waitingFor}`}`,
  ...reasons.map(({ actual, expected, rule }) => printable(`${rule}: expected ${expected}; actual ${actual}`)),
  ...deliveries.length === 0 ? [] : [table(deliveries.map(({ at, attempts, deliveryId, lastStatus, state }) =>
    [at, deliveryId, state, `attempts ${attempts}`, lastStatus === null ? "" : `status ${lastStatus}`]))]
].join("\n")

export const explainCommand = Command.make(
  "explain",
  {
    id: Argument.String("subscriptionId").pipe(Argument.withDescription("Id of a subscription, in any area")),
    ...operatorFlags,
    event: Flag.String("event").pipe(Flag.withDescription("An eventId"), Flag.optional),
    shipment: Flag.String("shipment").pipe(Flag.withDescription("A shipmentId, or the id of a freight bill"), Flag.optional),
    pickup: Flag.String("pickup").pipe(Flag.withDescription("A pickup number, or the service's id of a pickup"), Flag.optional),
    pro: Flag.String("pro").pipe(Flag.withDescription("A PRO number"), Flag.optional),
    json: jsonFlag
  },
  Effect.fnUntraced(function*({ event, id, json, pickup, pro, shipment, ...flags }) {
    const subjects: ReadonlyArray<ExplainSubject> = [
      ...Option.toArray(event).map((eventId) => ({ eventId })),
      ...Option.toArray(shipment).map((shipmentId) => ({ shipmentId })),
      ...Option.toArray(pro).map((pro) => ({ pro })),
      ...Option.toArray(pickup).map((pickupId) => ({ pickupId }))
    ]
    const [subject] = subjects
    if (subject === undefined || subjects.length > 1) return yield* usageError("Name one of --event, --shipment, --pro and --pickup.")
    const { operator, tenantId } = yield* operatorOfTenant(flags)
    const explanation = yield* callServer((signal) => operator.explain(tenantId, id, subject, { signal }))
    yield* printResult(json, { json: explanation, text: textOf(explanation) })
  })
).pipe(
  Command.withDescription("Explain why a subscription did or did not receive an event, data of a shipment, or changes of a pickup"),
  Command.withExamples([
    { command: "waybill explain --tenant acme 0199a6c2-5f1e-7b7a-9d53-0b8a4c6e2f10 --pro 041-8367745", description: "Why a bill with this PRO was or was not sent" }
  ])
)

export const healthCommand = Command.make(
  "health",
  { ...connectionFlags, json: jsonFlag },
  Effect.fnUntraced(function*({ json, ...flags }) {
    const operator = yield* operatorOfAllTenants(flags)
    const health = yield* callServer((signal) => operator.health({ signal }))
    const rows = health.tenants.map((tenant) => [
      tenant.tenantId,
      `${tenant.inTrouble} of ${tenant.subscriptions} in trouble`,
      `${tenant.waiting} waiting${tenant.oldestWaitingAt === null ? "" : ` since ${tenant.oldestWaitingAt}`}`,
      `${tenant.dead} dead`
    ])
    yield* printResult(json, { json: health, text: table(rows) })
  })
).pipe(
  Command.withDescription("Show the delivery health of each tenant, the worst first. Counts stop at 10,000"),
  Command.withExamples([{ command: "waybill health", description: "Tenants that need attention" }])
)
