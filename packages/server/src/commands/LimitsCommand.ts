/** `waybill limits`: the quotas of a tenant. */
import type { Limits, LimitsChange } from "@waybill/client"
import { defaultLimits, quotas } from "@waybill/core"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { usageError } from "./shared/Outcome.ts"
import { jsonFlag, printResult, table } from "./shared/Output.ts"
import { callServer, operatorOfTenant, operatorFlags } from "./shared/Remote.ts"

const text = (limits: Limits): string =>
  table(quotas.map((quota) => [quota, String(limits[quota]), limits[quota] === defaultLimits[quota] ? "" : `default ${defaultLimits[quota]}`]))

const getCommand = Command.make(
  "get",
  { ...operatorFlags, json: jsonFlag },
  Effect.fnUntraced(function*({ json, ...flags }) {
    const { operator, tenantId } = yield* operatorOfTenant(flags)
    const limits = yield* callServer((signal) => operator.getLimits(tenantId, { signal }))
    yield* printResult(json, { json: limits, text: text(limits) })
  })
).pipe(
  Command.withDescription("Show every quota of a tenant"),
  Command.withExamples([{ command: "waybill limits get --tenant acme", description: "All quotas of a tenant" }])
)

/** `quota=number` or `quota=default`. */
const changeOf = (given: ReadonlyArray<string>): LimitsChange | string => {
  const change: Record<string, number | null> = {}
  for (const each of given) {
    const [quota = "", value = ""] = each.split("=", 2)
    if (!quotas.some((name) => name === quota)) return `There is no quota ${quota}. The quotas are ${quotas.join(", ")}.`
    if (value !== "default" && !/^\d+$/.test(value)) return `Give ${quota} a number, as in ${quota}=10, or ${quota}=default.`
    change[quota] = value === "default" ? null : Number(value)
  }
  return change
}

const setCommand = Command.make(
  "set",
  {
    limits: Argument.String("quota=value").pipe(Argument.withDescription("A number, or `default`; can be given several times"), Argument.atLeast(1)),
    ...operatorFlags,
    json: jsonFlag
  },
  Effect.fnUntraced(function*({ json, limits: given, ...flags }) {
    const change = changeOf(given)
    if (typeof change === "string") return yield* usageError(change)
    const { operator, tenantId } = yield* operatorOfTenant(flags)
    const limits = yield* callServer((signal) => operator.putLimits(tenantId, change, { signal }))
    yield* printResult(json, { json: limits, text: text(limits) })
  })
).pipe(
  Command.withDescription("Change quotas of a tenant"),
  Command.withExamples([
    { command: "waybill limits set eventSubscriptionsPerClient=500 --tenant acme", description: "Allow 500 transit event subscriptions per client" },
    { command: "waybill limits set documentBytes=default --tenant acme", description: "Reset a quota to its default" }
  ])
)

export const limitsCommand = Command.make("limits").pipe(
  Command.withDescription("Show and change the quotas of a tenant"),
  Command.withSubcommands([getCommand, setCommand])
)
