/** `waybill explain` and `waybill health`: why a subject was not sent, and the delivery health of each tenant. */
import type { Explanation, ExplainSubject } from "@waybill/client"
import { Option } from "effect"
import { Argument, Flag } from "effect/cli"
import { operatorCommand, tenantCommand } from "./shared/OperatorCommands.ts"
import { printResult, table } from "./shared/Output.ts"
import { printable } from "../Printable.ts"

const textOf = ({ deliveries, reasons, verdict, waitingFor }: Explanation): string => [
  `verdict: ${verdict}${waitingFor === null ? "" : `, for ${waitingFor}`}`,
  ...reasons.map(({ actual, expected, rule }) => printable(`${rule}: expected ${expected}; actual ${actual}`)),
  ...deliveries.length === 0 ? [] : [table(deliveries.map(({ at, attempts, deliveryId, lastStatus, state }) =>
    [at, deliveryId, state, `attempts ${attempts}`, lastStatus === null ? "" : `status ${lastStatus}`]))]
].join("\n")

const subjectsOf = ({ event, pickup, pro, shipment }: Readonly<Record<"event" | "pickup" | "pro" | "shipment", Option.Option<string>>>): ReadonlyArray<ExplainSubject> => [
  ...Option.toArray(event).map((eventId) => ({ eventId })),
  ...Option.toArray(shipment).map((shipmentId) => ({ shipmentId })),
  ...Option.toArray(pro).map((pro) => ({ pro })),
  ...Option.toArray(pickup).map((pickupId) => ({ pickupId }))
]

export const explainCommand = tenantCommand("explain", {
  description: "Explain why a subscription did or did not receive an event, data of a shipment, or changes of a pickup",
  examples: [
    { command: "waybill explain --tenant acme 0199a6c2-5f1e-7b7a-9d53-0b8a4c6e2f10 --pro 041-8367745", description: "Why a bill with this PRO was or was not sent" }
  ],
  flags: {
    id: Argument.String("subscriptionId").pipe(Argument.withDescription("Id of a subscription, in any area")),
    event: Flag.String("event").pipe(Flag.withDescription("An eventId"), Flag.optional),
    shipment: Flag.String("shipment").pipe(Flag.withDescription("A shipmentId, or the id of a freight bill"), Flag.optional),
    pickup: Flag.String("pickup").pipe(Flag.withDescription("A pickup number, or the service's id of a pickup"), Flag.optional),
    pro: Flag.String("pro").pipe(Flag.withDescription("A PRO number"), Flag.optional)
  },
  check: (subjects) => subjectsOf(subjects).length === 1 ? undefined : "Name one of --event, --shipment, --pro and --pickup.",
  call: ({ operator, tenantId }, { id, ...subjects }, options) => operator.explain(tenantId, id, subjectsOf(subjects)[0]!, options),
  print: (asJson, explanation) => printResult(asJson, { json: explanation, text: textOf(explanation) })
})

export const healthCommand = operatorCommand("health", {
  description: "Show the delivery health of each tenant, the worst first. Counts stop at 10,000",
  examples: [{ command: "waybill health", description: "Tenants that need attention" }],
  flags: {},
  call: (operator, _, options) => operator.health(options),
  print: (asJson, health) =>
    printResult(asJson, {
      json: health,
      text: table([
        ...health.tenants.map((tenant) => [
          tenant.tenantId,
          `${tenant.inTrouble} of ${tenant.subscriptions} in trouble`,
          `${tenant.waiting} waiting${tenant.oldestWaitingAt === null ? "" : ` since ${tenant.oldestWaitingAt}`}`,
          `${tenant.dead} dead`
        ]),
        ...health.unread.map((tenantId) => [tenantId, "not read", "", ""])
      ])
    })
})
