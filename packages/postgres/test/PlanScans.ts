/** Reads EXPLAIN's JSON: the conditions of each scan of a table and of each write. */
import { Effect } from "effect"
import { PgArray } from "../src/client/PgBulk.ts"
import { PgClient, type Sql } from "../src/index.ts"

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

type Explained = ReadonlyArray<{ readonly "QUERY PLAN": ReadonlyArray<{ readonly Plan: PlanNode }> }>

const planIn = (rows: Explained): PlanNode => rows[0]!["QUERY PLAN"][0]!.Plan

/** The plan of a prepared statement that is used for all values. */
export const planOf = Effect.fnUntraced(function*(statement: string) {
  const sql = yield* PgClient.PgClient
  const parameters = Math.max(0, ...[...statement.matchAll(/\$(\d+)/g)].map(([, n]) => Number(n)))
  const values = parameters === 0 ? "" : `(${Array(parameters).fill("NULL").join(", ")})`
  return yield* sql.withTransaction(Effect.gen(function*() {
    yield* sql.unsafe("SET LOCAL plan_cache_mode = force_generic_plan").unprepared
    yield* sql.unsafe(`PREPARE explained AS ${statement}`).unprepared
    const rows = yield* sql.unsafe(`EXPLAIN (VERBOSE, FORMAT JSON) EXECUTE explained${values}`).unprepared
    yield* sql.unsafe("DEALLOCATE explained").unprepared
    return planIn(rows as unknown as Explained)
  }))
})

/** The plan for given values, like that of an unprepared statement. */
export const planWith = Effect.fnUntraced(function*({ text, values }: Sql.Statement) {
  const sql = yield* PgClient.PgClient
  return planIn(yield* sql.unsafe(`EXPLAIN (VERBOSE, FORMAT JSON) ${text}`, values).unprepared as unknown as Effect.Effect<Explained>)
})

const literalOf = (value: unknown): string => {
  if (value === null || value === undefined) return "NULL"
  const text = value instanceof PgArray ? value.literal() : value instanceof Uint8Array ? `\\x${Buffer.from(value).toString("hex")}` : String(value)
  return `'${text.replaceAll("'", "''")}'`
}

/** The number of pages that a statement reads, with the plan that is used for all values and with the plan for its own. */
export const pagesRead = Effect.fnUntraced(function*({ text, values }: Sql.Statement) {
  const sql = yield* PgClient.PgClient
  const execute = values.length === 0 ? "explained" : `explained(${values.map(literalOf).join(", ")})`
  return yield* Effect.forEach(["generic", "custom"], (kind) =>
    sql.withTransaction(Effect.gen(function*() {
      yield* sql.unsafe(`SET LOCAL plan_cache_mode = force_${kind}_plan`).unprepared
      yield* sql.unsafe(`PREPARE explained AS ${text}`).unprepared
      const rows = yield* sql.unsafe(`EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) EXECUTE ${execute}`).unprepared
      yield* sql.unsafe("DEALLOCATE explained").unprepared
      const plan = planIn(rows as unknown as Explained)
      return Number(plan["Shared Hit Blocks"]) + Number(plan["Shared Read Blocks"])
    })))
})

export interface Place {
  readonly relation: string
  readonly alias: string
  /** The plan's description, for failure messages. */
  readonly conditions: string
}

const conditionNames = ["Index Cond", "Recheck Cond", "Filter", "Join Filter", "Hash Cond", "Merge Cond", "TID Cond"]

const nodesOf = (node: PlanNode): ReadonlyArray<PlanNode> => [node, ...(node.Plans ?? []).flatMap(nodesOf)]

/** A scan with the index scan that a bitmap scan has below it. Everything else below a scan is a subquery. */
const ownNodes = (node: PlanNode): ReadonlyArray<PlanNode> => [node, ...(node.Plans ?? []).filter((child) => child["Parent Relationship"] === "Outer")]

const isScan = (node: PlanNode) => node["Relation Name"] !== undefined && node["Node Type"].endsWith("Scan")

/**
 * Scans that are not limited to one tenant: neither has the scan a `tenant_id` equal to a parameter, nor is it equal to that of a scan that is limited.
 */
export const scansAcrossTenants = (plan: PlanNode, schema: string): ReadonlyArray<Place> => {
  const nodes = nodesOf(plan)
  const scans = nodes.filter((node) => isScan(node) && node.Schema === schema)
  const conditionsOf = (node: PlanNode) => conditionNames.flatMap((name) => node[name] === undefined ? [] : [String(node[name])])
  const own = new Map(scans.map((node) => [node.Alias!, ownNodes(node).flatMap(conditionsOf)]))
  const equalities = nodes.flatMap(conditionsOf).flatMap((condition) => [...condition.matchAll(/\b(\w+)\.tenant_id = (\w+)\.tenant_id\b/g)].map(([, a, b]) => [a!, b!] as const))
  const limited = new Set([...own].filter(([, conditions]) => conditions.some((condition) => /\btenant_id = \(?\$\d|\$\d+\)?(::text)? = (\w+\.)?tenant_id\b/.test(condition))).map(([alias]) => alias))
  for (let before = -1; before < limited.size;) {
    before = limited.size
    for (const [a, b] of equalities) if (limited.has(a) || limited.has(b)) limited.add(a).add(b)
  }
  return scans.filter(({ Alias }) => !limited.has(Alias!))
    .map((node) => ({ relation: node["Relation Name"]!, alias: node.Alias!, conditions: own.get(node.Alias!)!.join(" AND ") }))
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

/** Scans that read all rows of a tenant in a table, because the tenant is their only index condition. As "table by index". */
export const wholeTenants = (plan: PlanNode, schema: string): ReadonlyArray<string> =>
  nodesOf(plan).filter((node) => isScan(node) && node.Schema === schema).flatMap((node) => {
    const indexes = ownNodes(node).filter((each) => each["Index Cond"] !== undefined)
    return indexes.filter((each) => /^\((\w+\.)?tenant_id = [^()]+\)$/.test(String(each["Index Cond"])))
      .map((each) => `${node["Relation Name"]} by ${String(each["Index Name"])}`)
  })
