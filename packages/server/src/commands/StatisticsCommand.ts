/** `waybill statistics`: deliveries, failures, latency and waiting entries over time. */
import type { StatisticsPoint, StatisticsSeries } from "@waybill/client"
import { Option } from "effect"
import { Flag } from "effect/cli"
import { instantFlag } from "./shared/Instants.ts"
import { given, tenantCommand } from "./shared/OperatorCommands.ts"
import { printResult, table } from "./shared/Output.ts"

export const statisticsCommand = tenantCommand("statistics", {
  description: "Show deliveries, failures, latency and waiting entries of a tenant, a client or a subscription over time",
  examples: [
    { command: "waybill statistics --tenant acme", description: "The last hour of a tenant" },
    { command: "waybill statistics --tenant acme --client shipper --from 7d --step 86400", description: "The last week of a client, by day" }
  ],
  flags: {
    subscription: Flag.String("subscription").pipe(Flag.withDescription("Only this subscription"), Flag.optional),
    client: Flag.String("client").pipe(Flag.withDescription("Only this client's subscriptions: a key's name, or jwt:<issuer>:<sub>"), Flag.optional),
    from: instantFlag("from").pipe(Flag.withDescription("The beginning, such as 6h, 7d or 2026-11-20T08:15:00Z; default an hour before --to"), Flag.optional),
    to: instantFlag("to").pipe(Flag.withDescription("The end; default now"), Flag.optional),
    step: Flag.Int("step").pipe(Flag.withDescription("Seconds of a line: a multiple of 60 up to 3600, or of 3600"), Flag.optional)
  },
  check: ({ from, to }) => Option.isSome(from) && Option.isSome(to) && to.value <= from.value ? "--to is not after --from." : undefined,
  call: ({ operator, tenantId }, { client, from, step, subscription, to }, options) =>
    operator.statistics(tenantId, given({ subscriptionId: Option.map(subscription, (id) => [id]), client, from, to, step }), options),
  print: (asJson, statistics) => printResult(asJson, { json: statistics, text: statistics.series.map(textOf).join("\n") })
})

const columns = ["from", "deliveries", "failures", "mean ms", "max ms", "waiting"]

const textOf = ({ points }: StatisticsSeries): string => table([columns, ...points.map(lineOf)])

const lineOf = ({ at, deliveries, failures, maxMillis, meanMillis, waiting }: StatisticsPoint): ReadonlyArray<string> =>
  [at, ...[deliveries, failures, meanMillis, maxMillis, waiting].map((value) => value === null ? "-" : String(value))]
