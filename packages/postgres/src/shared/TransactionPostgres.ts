/** Transactions on Postgres; inside a host's transaction they are savepoints. */
import { StorageError, Transaction } from "@waybill/core"
import { Effect, Layer } from "effect"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { PgClient } from "../client/PgClient.ts"

export const layer = Layer.effect(
  Transaction,
  Effect.gen(function*() {
    const sql = yield* PgClient
    return Transaction.of({
      run: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.mapError(sql.withTransaction(effect), (error) =>
          isSqlError(error) ? new StorageError({ operation: "Transaction.run", cause: error }) : error as Exclude<typeof error, SqlError>)
    })
  })
)
