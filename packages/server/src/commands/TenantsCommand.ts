/** `waybill tenants`: the tenants of a server. */
import type { Tenant } from "@waybill/client"
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { jsonFlag, printable, printResult, printRows } from "./shared/Output.ts"
import { callServer, callServerForAll, connectionFlags, operatorOfAllTenants } from "./shared/Remote.ts"

const listCommand = Command.make(
  "list",
  { ...connectionFlags, json: jsonFlag },
  Effect.fnUntraced(function*({ json, ...flags }) {
    const operator = yield* operatorOfAllTenants(flags)
    const tenants = yield* callServerForAll((options) => operator.allTenants({ limit: 500 }, options))
    yield* printRows(json, tenants, tenantRow, "No tenant yet. Create one: waybill tenants put <tenantId> --name <name>.")
  })
).pipe(
  Command.withDescription("List every tenant, by id"),
  Command.withExamples([
    { command: "waybill tenants list", description: "Ids, names and hosts" },
    { command: "waybill tenants list --json | jq -r .tenantId", description: "Only the ids, for a script" }
  ])
)

const tenantRow = ({ hosts, name, state, tenantId }: Tenant): ReadonlyArray<string> => [tenantId, name, state, hosts.join(" ")].map(printable)

const putCommand = Command.make(
  "put",
  {
    id: Argument.String("tenantId").pipe(Argument.withDescription("Letters, digits, hyphens and underscores; part of URLs and keys, and never changes")),
    ...connectionFlags,
    name: Flag.String("name").pipe(Flag.withDescription("Name that people read, such as Acme Freight")),
    hosts: Flag.String("host").pipe(
      Flag.withDescription("Host name whose public lookups use this tenant; can be given several times. Give all of them at every change"),
      Flag.atLeast(0)
    ),
    json: jsonFlag
  },
  Effect.fnUntraced(function*({ hosts, id, json, name, ...flags }) {
    const operator = yield* operatorOfAllTenants(flags)
    yield* callServer((signal) => operator.putTenant(id, { name, hosts }, { signal }))
    yield* printResult(json, {
      json: { tenantId: id, name, hosts },
      text: `${id} is ${printable(name)}${hosts.length === 0 ? "" : `, looked up at ${printable(hosts.join(", "))}`}.`
    })
  })
).pipe(
  Command.withDescription("Create a tenant, or change its name and hosts"),
  Command.withExamples([
    { command: "waybill tenants put acme --name 'Acme Freight'", description: "A new one" },
    { command: "waybill tenants put acme --name 'Acme Freight' --host track.acme.example", description: "With a host for lookups without credentials" }
  ])
)

const idOf = (description: string) => Argument.String("tenantId").pipe(Argument.withDescription(description))

const suspendCommand = Command.make(
  "suspend",
  { id: idOf("Tenant to suspend"), ...connectionFlags, json: jsonFlag },
  Effect.fnUntraced(function*({ id, json, ...flags }) {
    const operator = yield* operatorOfAllTenants(flags)
    const changed = yield* callServer((signal) => operator.suspendTenant(id, { signal }))
    yield* printResult(json, { json: changed, text: `${id} is suspended: its callers are refused and nothing is sent, on every node.` })
  })
).pipe(
  Command.withDescription("Refuse all calls of a tenant and send nothing"),
  Command.withExamples([{ command: "waybill tenants suspend acme", description: "Until tenants resume" }])
)

const resumeCommand = Command.make(
  "resume",
  { id: idOf("Tenant to resume"), ...connectionFlags, json: jsonFlag },
  Effect.fnUntraced(function*({ id, json, ...flags }) {
    const operator = yield* operatorOfAllTenants(flags)
    const changed = yield* callServer((signal) => operator.resumeTenant(id, { signal }))
    yield* printResult(json, { json: changed, text: `${id} is active. Waiting entries are sent.` })
  })
).pipe(
  Command.withDescription("Resume a suspended tenant"),
  Command.withExamples([{ command: "waybill tenants resume acme", description: "Waiting entries are sent" }])
)

const deleteCommand = Command.make(
  "delete",
  {
    id: idOf("Tenant to delete with all its data"),
    ...connectionFlags,
    confirm: Flag.String("confirm").pipe(Flag.withDescription("The tenantId again")),
    json: jsonFlag
  },
  Effect.fnUntraced(function*({ confirm, id, json, ...flags }) {
    const operator = yield* operatorOfAllTenants(flags)
    yield* callServer((signal) => operator.deleteTenant(id, { confirm }, { signal }))
    yield* printResult(json, { json: { tenantId: id, deleted: true }, text: `${id} is deleted. Its data is removed in the background.` })
  })
).pipe(
  Command.withDescription("Delete a tenant with all its data"),
  Command.withExamples([{ command: "waybill tenants delete acme --confirm acme", description: "It cannot be undone" }])
)

export const tenantsCommand = Command.make("tenants").pipe(
  Command.withDescription("List, create, change, suspend and delete tenants"),
  Command.withSubcommands([listCommand, putCommand, suspendCommand, resumeCommand, deleteCommand])
)
