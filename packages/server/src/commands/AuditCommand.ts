/** `waybill audit`: the audit log. */
import type { AuditEntry } from "@waybill/client"
import { Flag } from "effect/cli"
import { instantFlag } from "./shared/Instants.ts"
import { firstOf, given, limitFault, operatorCommand } from "./shared/OperatorCommands.ts"
import { printRows } from "./shared/Output.ts"
import { printable } from "../Printable.ts"

export const auditCommand = operatorCommand("audit", {
  description: "Show the audit log, newest first: actor, address, action and result",
  examples: [
    { command: "waybill audit --tenant acme --limit 20", description: "The last 20 calls about a tenant" },
    { command: "waybill audit --actor operator --since 2026-11-20T00:00:00Z --json", description: "Calls of one operator as JSON" }
  ],
  flags: {
    tenant: Flag.String("tenant").pipe(Flag.withDescription("Only calls about this tenant"), Flag.optional),
    actor: Flag.String("actor").pipe(Flag.withDescription("Only calls of this operator or client; a bare name is also the client key:<name>"), Flag.optional),
    since: instantFlag("since").pipe(Flag.withDescription("Only calls since this time"), Flag.optional),
    limit: Flag.Int("limit").pipe(Flag.withDescription("Maximum number of entries, newest first"), Flag.withDefault(100))
  },
  check: limitFault,
  call: (operator, { actor, limit, since, tenant }, options) => firstOf(limit, (page) => operator.allAudit({ ...given({ tenant, actor, since }), ...page }, options)),
  print: (asJson, entries, { limit }) => printRows(asJson, entries.slice(0, limit), rowOf, "No entry.")
})

const rowOf = ({ action, actor, address, at, object, status, tenantId }: AuditEntry): ReadonlyArray<string> =>
  [at, `${actor.kind} ${actor.name}`, address ?? "-", action, tenantId ?? "-", object.id === "" ? object.kind : `${object.kind} ${object.id}`, String(status)]
    .map(printable)
