/** The cluster of `npm run citus`: a migrated schema, where the shards of tenants are, and an operator's commands. */
import { PgClient } from "@waybill/postgres"
import { Effect, Redacted } from "effect"
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { inject, onTestFinished } from "vitest"
import { Program, sharedSettings } from "../program/Program.ts"

const pgUrl = inject("pgUrl")

/** Creating and dropping shards takes time, so there are few. */
const fewShards = (url: string): string => `${url}${url.includes("?") ? "&" : "?"}options=${encodeURIComponent("-c citus.shard_count=8")}`

export const query = <A extends object>(text: string, values: ReadonlyArray<unknown> = []): Promise<ReadonlyArray<A>> =>
  Effect.runPromise(
    Effect.flatMap(PgClient.PgClient, (sql) => sql.unsafe<A>(text, values).unprepared).pipe(
      Effect.provide(PgClient.layer({ url: Redacted.make(pgUrl), maxConnections: 1, statementTimeout: "5 minutes" }))
    )
  )

/** A schema that is distributed by `waybill migrate --citus` and dropped after the test, and a server on it. */
export const servedByCitus = async (more: Readonly<Record<string, string>> = {}) => {
  const { env, operatorKey } = sharedSettings(pgUrl, more)
  const schema = env["WAYBILL_SCHEMA"]!
  onTestFinished(async () => void await query(`DROP SCHEMA IF EXISTS "${schema}" CASCADE`), 60_000)
  const migration = new Program({ args: ["migrate", "--citus"], env: { ...env, WAYBILL_DATABASE_URL: fewShards(pgUrl) } })
  const { code } = await migration.end(120)
  if (code !== 0) throw new Error(`waybill migrate --citus ended with ${code}:\n${migration.output}`)
  const program = new Program({ env })
  const url = await program.ready()
  return { env, operatorKey, program, schema, url }
}

interface Placement {
  readonly shardid: number
  readonly nodename: string
  readonly nodeport: number
}

/** Where a tenant's rows are. */
export const placementOf = async (schema: string, tenantId: string): Promise<Placement> => {
  const [placement] = await query<Placement>(
    `SELECT s.shardid::int8 AS shardid, s.nodename, s.nodeport FROM citus_shards AS s
     WHERE s.shardid = get_shard_id_for_distribution_column('"${schema}".tenants', $1::text)`,
    [tenantId]
  )
  return placement!
}

/** Tenant ids whose rows are on different nodes, one for each node with shards. */
export const tenantsOnAllNodes = async (schema: string): Promise<ReadonlyArray<string>> => {
  const byNode = new Map<string, string>()
  for (let n = 0; n < 24; n++) {
    const tenantId = `carrier-${n}`
    const { nodename, nodeport } = await placementOf(schema, tenantId)
    const node = `${nodename}:${nodeport}`
    if (!byNode.has(node)) byNode.set(node, tenantId)
  }
  return [...byNode.values()]
}

/** Moves all shards of a tenant to another node, and returns that node. */
export const moveTenant = async (schema: string, tenantId: string): Promise<string> => {
  const from = await placementOf(schema, tenantId)
  const [to] = await query<{ readonly nodename: string; readonly nodeport: number }>(
    `SELECT nodename, nodeport FROM pg_dist_node
     WHERE shouldhaveshards AND isactive AND noderole = 'primary' AND (nodename, nodeport) <> ($1::text, $2::int4) ORDER BY nodeid LIMIT 1`,
    [from.nodename, from.nodeport]
  )
  await query("SELECT citus_move_shard_placement($1::int8, $2::text, $3::int4, $4::text, $5::int4)", [from.shardid, from.nodename, from.nodeport, to!.nodename, to!.nodeport])
  return `${to!.nodename}:${to!.nodeport}`
}

/** Commands of the operator that stop a node without warning and start it again. */
export const nodeCommands = { stop: process.env["WAYBILL_CITUS_STOP"], start: process.env["WAYBILL_CITUS_START"] }

export const runCommand = async (command: string): Promise<void> => void await promisify(execFile)("sh", ["-c", command])
