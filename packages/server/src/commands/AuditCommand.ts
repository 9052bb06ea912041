/** `waybill audit`: the audit log. */
import type { AuditEntry } from "@waybill/client"
import { Effect, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { instantFlag } from "./shared/Instants.ts"
import { jsonFlag, printable, printRows } from "./shared/Output.ts"
import { callServerForAll, connectionFlags, operatorOfAllTenants } from "./shared/Remote.ts"

export const auditCommand = Command.make(
  "audit",
  {
    ...connectionFlags,
    tenant: Flag.String("tenant").pipe(Flag.withDescription("Only calls about this tenant"), Flag.optional),
    actor: Flag.String("actor").pipe(Flag.withDescription("Only calls of this operator or client; the full name"), Flag.optional),
    since: instantFlag("since").pipe(Flag.withDescription("Only calls since this time"), Flag.optional),
    limit: Flag.Int("limit").pipe(Flag.withDescription("Maximum number of entries, newest first"), Flag.withDefault(100)),
    json: jsonFlag
  },
  Effect.fnUntraced(function*({ actor, json, limit, since, tenant, ...flags }) {
    const operator = yield* operatorOfAllTenants(flags)
    const query = {
      tenant: Option.getOrUndefined(tenant),
      actor: Option.getOrUndefined(actor),
      since: Option.getOrUndefined(since),
      limit: Math.min(limit, 500)
    }
    const entries = yield* callServerForAll((options) => operator.allAudit(query, options), limit)
    yield* printRows(json, entries, rowOf, "No entry.")
  })
).pipe(
  Command.withDescription("Show the audit log, newest first: actor, address, action and result"),
  Command.withExamples([
    { command: "waybill audit --tenant acme --limit 20", description: "The last 20 calls about a tenant" },
    { command: "waybill audit --actor operator --since 2026-11-20T00:00:00Z --json", description: "Calls of one operator as JSON" }
  ])
)

const rowOf = ({ action, actor, address, at, object, status, tenantId }: AuditEntry): ReadonlyArray<string> =>
  [at, `${actor.kind} ${actor.name}`, address ?? "-", action, tenantId ?? "-", object.id === "" ? object.kind : `${object.kind} ${object.id}`, String(status)]
    .map(printable)
