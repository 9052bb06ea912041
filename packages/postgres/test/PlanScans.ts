/** Reads EXPLAIN's JSON: the conditions of each scan of a table and of each write. */
import { Effect } from "effect"
import { PgClient } from "../src/index.ts"

interface PlanNode {
  readonly "Node Type": string
  readonly "Schema"?: string
  readonly "Relation Name"?: string
  readonly "Alias"?: string
  readonly "Operation"?: string
  readonly "Output"?: ReadonlyArray<string>
  readonly "Plans"?: ReadonlyArray<PlanNode>
  readonly [condition: string]: unknown
}

/** Whether the server can show a plan for unknown parameters; before Postgres 16 it cannot. */
export const showsGenericPlans = Effect.flatMap(PgClient.PgClient, (sql) =>
  Effect.map(sql<{ n: number }>`SELECT current_setting('server_version_num')::int AS n`, ([row]) => row!.n >= 160_000))

export const planOf = Effect.fnUntraced(function*(statement: string) {
  const sql = yield* PgClient.PgClient
  // a client binds values to every parameter, and then the plan would be for those values; a function need not
  const [row] = yield* sql.withTransaction(Effect.andThen(
    sql.unsafe(
      "CREATE OR REPLACE FUNCTION pg_temp.explained(statement text) RETURNS json LANGUAGE plpgsql " +
        "AS $$ DECLARE plan json; BEGIN EXECUTE statement INTO plan; RETURN plan; END $$"
    ),
    sql<{ readonly plan: ReadonlyArray<{ readonly Plan: PlanNode }> }>`
      SELECT pg_temp.explained(${`EXPLAIN (GENERIC_PLAN, VERBOSE, FORMAT JSON) ${statement}`}) AS plan
    `
  ))
  return row!.plan[0]!.Plan
})

export interface Place {
  readonly relation: string
  readonly alias: string
  /** The plan's description, for failure messages. */
  readonly conditions: string
}

const conditionNames = ["Index Cond", "Recheck Cond", "Filter", "Join Filter", "Hash Cond", "Merge Cond", "TID Cond"]

const nodesOf = (node: PlanNode): ReadonlyArray<PlanNode> => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

const isScan = (node: PlanNode) => node["Relation Name"] !== undefined && node["Node Type"].endsWith("Scan")

/**
 * Scans that are not limited to one tenant: neither the scan nor a join above it has an equality on its `tenant_id`.
 * The planner propagates equalities, so that `a.tenant_id = b.tenant_id AND a.tenant_id = $1` shows at both.
 */
export const scansAcrossTenants = (plan: PlanNode, schema: string): ReadonlyArray<Place> => {
  const nodes = nodesOf(plan)
  const conditions = nodes.flatMap((node) => conditionNames.flatMap((name) => node[name] === undefined ? [] : [String(node[name])]))
  return nodes.filter((node) => isScan(node) && node.Schema === schema).flatMap((node) => {
    const alias = node.Alias!
    const own = conditionNames.flatMap((name) => node[name] === undefined ? [] : [String(node[name])])
    const child = (node.Plans ?? []).flatMap((each) => each["Index Cond"] === undefined ? [] : [String(each["Index Cond"])])
    const bound = [...own, ...child].some((condition) => /\btenant_id = |= (\w+\.)?tenant_id\b/.test(condition)) ||
      conditions.some((condition) => new RegExp(`\\b${alias}\\.tenant_id = |= ${alias}\\.tenant_id\\b`).test(condition))
    return bound ? [] : [{ relation: node["Relation Name"]!, alias, conditions: own.join(" AND ") }]
  })
}

/** Inserts whose tenant comes from anywhere else than the first parameter or a row of a tenant. */
export const insertsAcrossTenants = (plan: PlanNode, schema: string): ReadonlyArray<Place> =>
  nodesOf(plan).filter((node) => node["Operation"] === "Insert" && node.Schema === schema).flatMap((node) => {
    const source = (node.Plans ?? []).filter((child) => child["Parent Relationship"] === "Outer").flatMap(nodesOf)
    // the first column of every table is its tenant; sorting and grouping rename it
    const tenants = source.map((each) => each.Output?.[0] ?? "")
    return tenants.some((tenant) => /^\(?\$1\b|\btenant_id$/.test(tenant)) || insertsParameters(source)
      ? []
      : [{ relation: node["Relation Name"]!, alias: node.Alias ?? "", conditions: `tenant_id is ${tenants.join(", ")}` }]
  })

const insertsParameters = (source: ReadonlyArray<PlanNode>): boolean => source.some((node) => (node.Output ?? []).includes("$1"))

/** Tenant tables that the plan reads with a full scan. */
export const wholeTables = (plan: PlanNode, schema: string): ReadonlyArray<Place> =>
  nodesOf(plan).filter((node) => node["Node Type"] === "Seq Scan" && node.Schema === schema)
    .map((node) => ({ relation: node["Relation Name"]!, alias: node.Alias ?? "", conditions: String(node["Filter"] ?? "") }))

/** Relations that the plan reads with a full scan, in any schema. */
export const seqScans = (plan: PlanNode): ReadonlyArray<string> =>
  nodesOf(plan).filter((node) => node["Node Type"] === "Seq Scan").map((node) => `${node["Relation Name"]} ${node["Filter"] ?? ""}`)

/** The index conditions of each scan of a table. */
export const indexConditions = (plan: PlanNode, schema: string, relation: string): ReadonlyArray<string> =>
  nodesOf(plan).filter((node) => isScan(node) && node.Schema === schema && node["Relation Name"] === relation)
    .map((node) => [node["Index Cond"], ...(node.Plans ?? []).map((child) => child["Index Cond"])].filter((each) => each !== undefined).join(" AND "))

/** The source of an update's rows: a scan of the table, or a join with it. */
export const updatesFrom = (plan: PlanNode, schema: string, relation: string): ReadonlyArray<string> =>
  nodesOf(plan).filter((node) => node["Operation"] === "Update" && node.Schema === schema && node["Relation Name"] === relation)
    .flatMap((node) => (node.Plans ?? []).filter((child) => child["Parent Relationship"] === "Outer").map((child) => child["Node Type"]))

/** Scans that read all rows of a tenant in a table, because the tenant is their only index condition. As "table by index". */
export const wholeTenants = (plan: PlanNode, schema: string): ReadonlyArray<string> =>
  nodesOf(plan).filter((node) => isScan(node) && node.Schema === schema).flatMap((node) => {
    const indexes = [node, ...(node.Plans ?? [])].filter((each) => each["Index Cond"] !== undefined)
    return indexes.filter((each) => /^\((\w+\.)?tenant_id = [^()]+\)$/.test(String(each["Index Cond"])))
      .map((each) => `${node["Relation Name"]} by ${String(each["Index Name"])}`)
  })
