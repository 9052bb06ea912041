/** `waybill subscriptions edit`: changes the settings of a subscription. */
import type { SubscriptionChange } from "@waybill/client"
import { Argument, type Command, Flag } from "effect/cli"
import { given, tenantCommand } from "./shared/OperatorCommands.ts"
import { printResult } from "./shared/Output.ts"

const number = (name: string, what: string) => Flag.Int(name).pipe(Flag.withDescription(what), Flag.optional)

export const sampleId = "0199a6c2-5f1e-7b7a-9d53-0b8a4c6e2f10"

const flags = {
  id: Argument.String("subscriptionId").pipe(Argument.withDescription("Id of a subscription to transit events or pickups")),
  endpoint: Flag.String("endpoint-url").pipe(Flag.withDescription("The address that deliveries go to"), Flag.optional),
  secret: Flag.String("secret-id").pipe(Flag.withDescription("The signing secret, one that its client may use"), Flag.optional),
  attempts: number("max-attempts", "Attempts before a delivery becomes a dead letter"),
  initial: number("initial-backoff", "Seconds before the first retry"),
  longest: number("max-backoff", "Longest time between retries, in seconds"),
  batch: number("batch-max-size", "Most events in one delivery"),
  rate: number("rate-per-minute", "Most deliveries in a minute"),
  types: Flag.String("event-type").pipe(Flag.withDescription("Only events of this type; can be given several times; all: every type"), Flag.atLeast(0)),
  shipments: Flag.String("shipment").pipe(Flag.withDescription("Only events of this shipment; can be given several times; all: every shipment"), Flag.atLeast(0))
}

const changeOf = ({ attempts, batch, endpoint, initial, longest, rate, secret, shipments, types }: Command.Command.Config.Infer<typeof flags>): SubscriptionChange => {
  const delivery = given({ maxAttempts: attempts, initialBackoffSeconds: initial, maxBackoffSeconds: longest, batchMaxSize: batch, rateLimitPerMinute: rate })
  const filters = { ...listed("eventTypes", types), ...listed("shipmentIds", shipments) }
  return {
    ...given({ endpointUrl: endpoint, hmacSecretId: secret }),
    ...Object.keys(delivery).length === 0 ? {} : { delivery },
    ...Object.keys(filters).length === 0 ? {} : { filters }
  }
}

/** `null` resets a filter. */
const listed = (name: "eventTypes" | "shipmentIds", values: ReadonlyArray<string>) =>
  values.length === 0 ? {} : { [name]: values.includes("all") ? null : values }

export const editCommand = tenantCommand("edit", {
  description: "Change the endpoint, secret, delivery settings or filters of a subscription, by the rules of its client's own call",
  examples: [{ command: `waybill subscriptions edit --tenant acme ${sampleId} --rate-per-minute 60 --batch-max-size 20`, description: "Slow down for a receiver that is overloaded" }],
  flags,
  check: (values) => [values.types, values.shipments].some((each) => each.length > 1 && each.includes("all")) ? "--event-type all and --shipment all remove the filter. Give no other value beside all." : Object.keys(changeOf(values)).length === 0 ? "Nothing to change. Give at least one of the settings; --help lists them." : undefined,
  call: ({ operator, tenantId }, values, options) => operator.editSubscription(tenantId, values.id, changeOf(values), options),
  print: (asJson, subscription, values) => printResult(asJson, { json: subscription, text: `${values.id} is changed: ${JSON.stringify(changeOf(values))}` })
})
