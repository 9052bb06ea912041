/** `waybill limits`: the quotas of a tenant. */
import type { Limits, LimitsChange } from "@waybill/client"
import { defaultLimits, quotas } from "@waybill/core"
import { Argument } from "effect/cli"
import { commandGroup, tenantCommand } from "./shared/OperatorCommands.ts"
import { printResult, table } from "./shared/Output.ts"

const print = (asJson: boolean, limits: Limits) =>
  printResult(asJson, {
    json: limits,
    text: table(quotas.map((quota) => [quota, String(limits[quota]), limits[quota] === defaultLimits[quota] ? "" : `default ${defaultLimits[quota]}`]))
  })

const getCommand = tenantCommand("get", {
  description: "Show every quota of a tenant",
  examples: [{ command: "waybill limits get --tenant acme", description: "All quotas of a tenant" }],
  flags: {},
  call: ({ operator, tenantId }, _, options) => operator.getLimits(tenantId, options),
  print
})

interface Settings {
  readonly settings: ReadonlyArray<string>
}

/** `quota=number` or `quota=default`. */
const pairsOf = ({ settings }: Settings) => settings.map((setting) => setting.split("=")).map(([quota = "", ...rest]) => ({ quota, value: rest.join("=") }))

const faultOf = (given: Settings): string | undefined => {
  const names = new Set<string>()
  for (const { quota, value } of pairsOf(given)) {
    if (names.has(quota)) return `Give ${quota} once.`
    names.add(quota)
    if (!quotas.some((name) => name === quota)) return `There is no quota ${quota}. The quotas are ${quotas.join(", ")}.`
    if (value !== "default" && !/^\d+$/.test(value)) return `Give ${quota} a number, as in ${quota}=10, or ${quota}=default.`
  }
  return undefined
}

const changeOf = (given: Settings): LimitsChange =>
  Object.fromEntries(pairsOf(given).map(({ quota, value }) => [quota, value === "default" ? null : Number(value)]))

const setCommand = tenantCommand("set", {
  description: "Change quotas of a tenant",
  examples: [
    { command: "waybill limits set eventSubscriptionsPerClient=500 --tenant acme", description: "Allow 500 transit event subscriptions per client" },
    { command: "waybill limits set documentBytes=default --tenant acme", description: "Reset a quota to its default" }
  ],
  flags: { settings: Argument.String("quota=value").pipe(Argument.withDescription("A number, or `default`; can be given several times"), Argument.atLeast(1)) },
  check: faultOf,
  call: ({ operator, tenantId }, given, options) => operator.putLimits(tenantId, changeOf(given), options),
  print
})

export const limitsCommand = commandGroup("limits", "Show and change the quotas of a tenant", [getCommand, setCommand])
