/** `waybill clients`: the clients of a tenant. */
import type { Client } from "@waybill/client"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { counted, jsonFlag, printable, printResult, printRows } from "./shared/Output.ts"
import { callServer, callServerForAll, operatorOfTenant, operatorFlags } from "./shared/Remote.ts"

const listCommand = Command.make(
  "list",
  { ...operatorFlags, json: jsonFlag },
  Effect.fnUntraced(function*({ json, ...flags }) {
    const { operator, tenantId } = yield* operatorOfTenant(flags)
    const clients = yield* callServerForAll((options) => operator.allClients(tenantId, { limit: 500 }, options))
    yield* printRows(json, clients, clientRow, "No client yet. Create a key: waybill keys create <name> --role customer --account <account>.")
  })
).pipe(
  Command.withDescription("List clients with their keys, subscriptions and last use"),
  Command.withExamples([{ command: "waybill clients list --tenant acme", description: "Clients of API keys and of tokens" }])
)

const clientRow = ({ client, keys, lastSeenAt, roles, state, subscriptions }: Client): ReadonlyArray<string> =>
  [client, state, roles.join(" "), counted(keys, "key"), counted(subscriptions, "subscription"), lastSeenAt === null ? "never seen" : `seen ${lastSeenAt}`].map(printable)

const deleteCommand = Command.make(
  "delete",
  { client: Argument.String("client").pipe(Argument.withDescription("key:<name>, jwt:<issuer>:<sub>, or a bare name, which means key:<name>")), ...operatorFlags, json: jsonFlag },
  Effect.fnUntraced(function*({ client, json, ...flags }) {
    const { operator, tenantId } = yield* operatorOfTenant(flags)
    yield* callServer((signal) => operator.removeClient(tenantId, client, { signal }))
    yield* printResult(json, { json: { client, deleted: true }, text: `${printable(client)} has no key and no subscription any more.` })
  })
).pipe(
  Command.withDescription("Revoke a client's keys, close its subscriptions, and drop their waiting entries"),
  Command.withExamples([{ command: "waybill clients delete shipper-tms --tenant acme", description: "The client of all keys with that name" }])
)

export const clientsCommand = Command.make("clients").pipe(
  Command.withDescription("List and delete clients"),
  Command.withSubcommands([listCommand, deleteCommand])
)
