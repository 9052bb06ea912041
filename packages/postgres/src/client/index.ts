/** The SQL client on Postgres. */
export * as PgClient from "./PgClient.ts"
export { type BulkValue, PgArray, type PgArrayType } from "./PgBulk.ts"
export { classify, sqlError } from "./PgErrors.ts"
export type { HostClient, HostExecutor } from "./PgHost.ts"
export type { SqlPgClient } from "./PgSqlPg.ts"
export type { ColumnHint, ColumnType } from "./PgTypes.ts"
export * as Sql from "./Sql.ts"
