/** `waybill keys`: API keys. */
import type { ListedApiKey } from "@waybill/client"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { disclosure, disclosureFlags } from "./shared/Disclosure.ts"
import { futureInstantFlag } from "./shared/Instants.ts"
import { allOf, commandGroup, given, tenantCommand } from "./shared/OperatorCommands.ts"
import { usageError } from "./shared/Outcome.ts"
import { jsonFlag, printResult, printRows } from "./shared/Output.ts"
import { printable } from "../Printable.ts"
import { callServer, operatorOfTenant, operatorFlags } from "./shared/Remote.ts"

const createCommand = Command.make(
  "create",
  {
    name: Argument.String("name").pipe(Argument.withDescription("Name of the client. Keys with the same name are one client, so a replaced key keeps its subscriptions")),
    ...operatorFlags,
    roles: Flag.Literals("role", ["carrier", "customer"]).pipe(Flag.withDescription("Role of the key; can be given twice"), Flag.atLeast(1)),
    accounts: Flag.String("account").pipe(Flag.withDescription("Account whose shipments a customer sees and whose freight charges it may receive; can be given several times"), Flag.atLeast(0)),
    dot: Flag.String("dot").pipe(Flag.withDescription("A carrier's USDOT number"), Flag.optional),
    mc: Flag.String("mc").pipe(Flag.withDescription("A carrier's MC number"), Flag.optional),
    expires: futureInstantFlag("expires").pipe(Flag.withDescription("When the key expires, such as 90d for in 90 days, or 2027-01-01T00:00:00Z; default: never"), Flag.optional),
    ...disclosureFlags,
    json: jsonFlag
  },
  ({ accounts, dot, expires, json, mc, name, roles: givenRoles, ...flags }) =>
    Effect.scoped(Effect.gen(function*() {
      const roles = [...new Set(givenRoles)]
      if (roles.includes("customer") && accounts.length === 0) return yield* usageError("A customer sees the shipments of its accounts. Give --account, at least once.")
      if (!roles.includes("customer") && accounts.length > 0) {
        return yield* usageError("--account limits a customer; a carrier sees every shipment of the tenant, or with --dot or --mc that carrier's. Give --role customer, beside --role carrier if the carrier receives freight charges of the account, or leave --account out.")
      }
      const { operator, tenantId } = yield* operatorOfTenant(flags)
      const kept = yield* disclosure(flags, "The key", true)
      const made = yield* callServer((signal) =>
        operator.createApiKey(tenantId, {
          name,
          roles,
          ...(accounts.length === 0 ? {} : { accounts }),
          ...given({ dot, mc, expiresAt: Option.map(expires, (at) => at.toISOString()) })
        }, { signal }))
      yield* kept.keep(made.key)
      yield* printResult(json, {
        json: { id: made.id, name, ...(kept.isShown ? { key: made.key } : {}) },
        text: `Key ${made.id} of ${name} works from now on.${kept.note}${kept.isShown ? `\n${made.key}` : ""}`
      })
    }))
).pipe(
  Command.withDescription("Create an API key"),
  Command.withExamples([
    { command: "waybill keys create tms --tenant acme --role carrier --out carrier-key", description: "For the carrier's own system" },
    { command: "waybill keys create shipper --tenant acme --role customer --account A-100 --account A-200 --show", description: "For a customer with two accounts" }
  ])
)

const listCommand = tenantCommand("list", {
  description: "List API keys in order of creation",
  examples: [{ command: "waybill keys list --tenant acme", description: "With expiry and last use" }],
  flags: {},
  call: ({ operator, tenantId }, _, options) => allOf((page) => operator.allApiKeys(tenantId, page, options)),
  print: (asJson, keys) => printRows(asJson, keys, keyRow, "No key yet. Create one: waybill keys create <name> --role carrier.")
})

const keyRow = ({ client, expiresAt, id, lastUsedAt, roles }: ListedApiKey): ReadonlyArray<string> =>
  [id, client, roles.join(" "), expiresAt === null ? "no end" : `until ${expiresAt}`, lastUsedAt === null ? "never used" : `used ${lastUsedAt}`].map(printable)

const revokeCommand = tenantCommand("revoke", {
  description: "Revoke an API key, at once and on every node",
  examples: [{ command: "waybill keys revoke 0199a6c2-5f1e-7b7a-9d53-0b8a4c6e2f10 --tenant acme", description: "Revoke a leaked key" }],
  flags: { id: Argument.String("keyId").pipe(Argument.withDescription("Id from keys create or keys list")) },
  call: ({ operator, tenantId }, { id }, options) => operator.revokeApiKey(tenantId, id, options),
  print: (asJson, _, { id }) => printResult(asJson, { json: { id, revoked: true }, text: `Key ${id} no longer works, on any node.` })
})

export const keysCommand = commandGroup("keys", "Create, list and revoke API keys", [createCommand, listCommand, revokeCommand])
