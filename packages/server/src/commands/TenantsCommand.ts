/** `waybill tenants`: whose freight a server keeps. */
import { OperatorClient, type Tenant } from "@waybill/client"
import { Console, Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { answer, jsonFlag, printable, progress, table } from "./shared/Output.ts"
import { asOperatorOfAll, called, connectionFlags } from "./shared/Remote.ts"

const listCommand = Command.make(
  "list",
  { ...connectionFlags, json: jsonFlag },
  Effect.fnUntraced(function*({ json, ...flags }) {
    const connected = yield* asOperatorOfAll(flags)
    const tenants = yield* called(async (signal) => {
      const found: Array<Tenant> = []
      for await (const tenant of new OperatorClient(connected).allTenants({ limit: 500 }, { signal })) found.push(tenant)
      return found
    })
    if (json) for (const tenant of tenants) yield* Console.log(JSON.stringify(tenant))
    else if (tenants.length > 0) yield* Console.log(table(tenants.map(tenantRow)))
    else yield* progress("No tenant yet. Create one: waybill tenants put <tenantId> --name <name>.")
  })
).pipe(
  Command.withDescription("List every tenant, by id"),
  Command.withExamples([
    { command: "waybill tenants list", description: "Ids, names and hosts" },
    { command: "waybill tenants list --json | jq -r .tenantId", description: "Only the ids, for a script" }
  ])
)

const tenantRow = ({ hosts, name, tenantId }: Tenant): ReadonlyArray<string> => [tenantId, name, hosts.join(" ")].map(printable)

const putCommand = Command.make(
  "put",
  {
    id: Argument.String("tenantId").pipe(Argument.withDescription("Letters, digits, hyphens and underscores; stands in addresses and keys, and never changes")),
    ...connectionFlags,
    name: Flag.String("name").pipe(Flag.withDescription("For people")),
    hosts: Flag.String("host").pipe(
      Flag.withDescription("A host name whose public lookups are this tenant's; can be given several times. It has to be given at every change"),
      Flag.atLeast(0)
    ),
    json: jsonFlag
  },
  Effect.fnUntraced(function*({ hosts, id, json, name, ...flags }) {
    const connected = yield* asOperatorOfAll(flags)
    yield* called((signal) => new OperatorClient(connected).putTenant(id, { name, hosts }, { signal }))
    yield* answer(json, {
      json: { tenantId: id, name, hosts },
      text: `${id} is ${printable(name)}${hosts.length === 0 ? "" : `, looked up at ${printable(hosts.join(", "))}`}.`
    })
  })
).pipe(
  Command.withDescription("Create a tenant, or change its name and hosts"),
  Command.withExamples([
    { command: "waybill tenants put acme --name 'Acme Freight'", description: "A new one" },
    { command: "waybill tenants put acme --name 'Acme Freight' --host track.acme.example", description: "With a host of its own for lookups without credentials" }
  ])
)

export const tenantsCommand = Command.make("tenants").pipe(
  Command.withDescription("List, create and change tenants"),
  Command.withSubcommands([listCommand, putCommand])
)
