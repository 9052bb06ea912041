/** `waybill tenants`: the tenants of a server. */
import type { Tenant } from "@waybill/client"
import { Argument, Flag } from "effect/cli"
import { allOf, commandGroup, operatorCommand } from "./shared/OperatorCommands.ts"
import { printResult, printRows } from "./shared/Output.ts"
import { printable } from "../Printable.ts"

const listCommand = operatorCommand("list", {
  description: "List every tenant, by id",
  examples: [
    { command: "waybill tenants list", description: "Ids, names, states and hosts" },
    { command: "waybill tenants list --json | jq -r .tenantId", description: "Only the ids, for a script" }
  ],
  flags: {},
  call: (operator, _, options) => allOf((page) => operator.allTenants(page, options)),
  print: (asJson, tenants) => printRows(asJson, tenants, tenantRow, "No tenant yet. Create one: waybill tenants put <tenantId> --name <name>.")
})

const tenantRow = ({ hosts, name, state, tenantId }: Tenant): ReadonlyArray<string> => [tenantId, name, state, hosts.join(" ")].map(printable)

const idOf = (description: string) => Argument.String("tenantId").pipe(Argument.withDescription(description))

const putCommand = operatorCommand("put", {
  description: "Create a tenant, or change its name and hosts",
  examples: [
    { command: "waybill tenants put acme --name 'Acme Freight'", description: "A new one" },
    { command: "waybill tenants put acme --name 'Acme Freight' --host track.acme.example", description: "With a host for lookups without credentials" }
  ],
  flags: {
    id: idOf("Letters, digits, hyphens and underscores; part of URLs and keys, and never changes"),
    name: Flag.String("name").pipe(Flag.withDescription("Name that people read, such as Acme Freight")),
    hosts: Flag.String("host").pipe(
      Flag.withDescription("Host name whose public lookups use this tenant; can be given several times. Give all of them at every change"),
      Flag.atLeast(0)
    )
  },
  call: (operator, { hosts, id, name }, options) => operator.putTenant(id, { name, hosts }, options),
  print: (asJson, _, { hosts, id, name }) =>
    printResult(asJson, {
      json: { tenantId: id, name, hosts },
      text: `${id} is ${printable(name)}${hosts.length === 0 ? "" : `, looked up at ${printable(hosts.join(", "))}`}.`
    })
})

const suspendCommand = operatorCommand("suspend", {
  description: "Refuse all calls of a tenant and send nothing",
  examples: [{ command: "waybill tenants suspend acme", description: "Until tenants resume" }],
  flags: { id: idOf("Tenant to suspend") },
  call: (operator, { id }, options) => operator.suspendTenant(id, options),
  print: (asJson, changed, { id }) => printResult(asJson, { json: changed, text: `${id} is suspended: its callers are refused and nothing is sent, on every node.` })
})

const resumeCommand = operatorCommand("resume", {
  description: "Resume a suspended tenant",
  examples: [{ command: "waybill tenants resume acme", description: "Waiting entries are sent" }],
  flags: { id: idOf("Tenant to resume") },
  call: (operator, { id }, options) => operator.resumeTenant(id, options),
  print: (asJson, changed, { id }) => printResult(asJson, { json: changed, text: `${id} is active. Waiting entries are sent.` })
})

const deleteCommand = operatorCommand("delete", {
  description: "Delete a tenant with all its data",
  examples: [{ command: "waybill tenants delete acme --confirm acme", description: "It cannot be undone" }],
  flags: {
    id: idOf("Tenant to delete with all its data"),
    confirm: Flag.String("confirm").pipe(Flag.withDescription("The tenantId again"))
  },
  call: (operator, { confirm, id }, options) => operator.deleteTenant(id, { confirm }, options),
  print: (asJson, _, { id }) => printResult(asJson, { json: { tenantId: id, deleted: true }, text: `${id} is deleted. Its data is removed in the background.` })
})

export const tenantsCommand = commandGroup("tenants", "List, create, change, suspend and delete tenants", [listCommand, putCommand, suspendCommand, resumeCommand, deleteCommand])
