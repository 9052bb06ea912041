/** `waybill clients`: the clients of a tenant. */
import type { Client } from "@waybill/client"
import { Argument } from "effect/cli"
import { allOf, commandGroup, tenantCommand } from "./shared/OperatorCommands.ts"
import { counted, printResult, printRows } from "./shared/Output.ts"
import { printable } from "../Printable.ts"

const listCommand = tenantCommand("list", {
  description: "List clients with their keys, subscriptions and last use",
  examples: [{ command: "waybill clients list --tenant acme", description: "Clients of API keys and of tokens" }],
  flags: {},
  call: ({ operator, tenantId }, _, options) => allOf((page) => operator.allClients(tenantId, page, options)),
  print: (asJson, clients) => printRows(asJson, clients, clientRow, "No client yet. Create a key: waybill keys create <name> --role customer --account <account>.")
})

const clientRow = ({ client, keys, lastSeenAt, roles, state, subscriptions }: Client): ReadonlyArray<string> =>
  [client, state, roles.join(" "), counted(keys, "key"), counted(subscriptions, "subscription"), lastSeenAt === null ? "never seen" : `seen ${lastSeenAt}`].map(printable)

const deleteCommand = tenantCommand("delete", {
  description: "Revoke a client's keys, close its subscriptions, and drop their waiting entries",
  examples: [{ command: "waybill clients delete shipper-tms --tenant acme", description: "The client of all keys with that name" }],
  flags: { client: Argument.String("client").pipe(Argument.withDescription("key:<name>, jwt:<issuer>:<sub>, or a bare name, which means key:<name>")) },
  call: ({ operator, tenantId }, { client }, options) => operator.removeClient(tenantId, client, options),
  print: (asJson, _, { client }) => printResult(asJson, { json: { client, deleted: true }, text: `${printable(client)} has no key and no subscription any more.` })
})

export const clientsCommand = commandGroup("clients", "List and delete clients", [listCommand, deleteCommand])
