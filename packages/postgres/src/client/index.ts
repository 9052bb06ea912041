/** The SQL client on Postgres. */
export * as PgClient from "./PgClient.ts"
export {
  boolArray,
  bulk,
  type BulkRunner,
  type BulkValue,
  byteaArray,
  float8Array,
  int4Array,
  int8Array,
  PgArray,
  type PgArrayType,
  textArray,
  timestamptzArray,
  uuidArray
} from "./PgBulk.ts"
export { classify, sqlError } from "./PgErrors.ts"
export type { HostClient, HostExecutor } from "./PgHost.ts"
export type { SqlPgClient } from "./PgSqlPg.ts"
export type { ColumnHint, ColumnType } from "./PgTypes.ts"
export * as Sql from "./Sql.ts"
