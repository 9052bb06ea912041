/** What the statements of a store need: the client that sends them, and the schema of its tables. */
import { Effect } from "effect"
import { PgClient } from "../client/PgClient.ts"
import { WaybillSchema } from "./Schema.ts"

export const database = Effect.gen(function*() {
  const sql = yield* PgClient
  const { identifier: schema, name } = yield* WaybillSchema
  return { sql, schema, name }
})
