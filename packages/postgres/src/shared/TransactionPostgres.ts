/** Transactions on Postgres; inside a host's transaction they are savepoints. */
import { StorageError, Transaction } from "@waybill/core"
import { Effect, Layer, type Scope } from "effect"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { PgClient } from "../client/PgClient.ts"
import type { PgConnection } from "../client/PgConnection.ts"
import type { HostClient, HostExecutor } from "../client/PgHost.ts"

export const layer = Layer.effect(
  Transaction,
  Effect.gen(function*() {
    const sql = yield* PgClient
    return Transaction.of({
      run: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.mapError(sql.withTransaction(effect), (error) =>
          isSqlError(error) ? new StorageError({ operation: "Transaction.run", cause: error }) : error as Exclude<typeof error, SqlError>),
      handle: Effect.flatMap(sql.transactionConnection, (connection) =>
        connection === undefined
          ? Effect.die(new Error("No transaction is open."))
          : handleOf(connection).pipe(StorageError.refail("Transaction.handle")))
    })
  })
)

/** The handle for statements of the host's code: a client of the host's pool, or an executor over Waybill's own connection. */
const handleOf = (connection: PgConnection): Effect.Effect<HostClient | HostExecutor, SqlError, Scope.Scope> =>
  Effect.flatMap(connection.hostClient, (client): Effect.Effect<HostClient | HostExecutor, never, Scope.Scope> =>
    client === undefined ? executorOf(connection) : Effect.succeed(client))

/** Refuses statements after the scope closed, because the connection then runs other transactions. */
const executorOf = (connection: PgConnection): Effect.Effect<HostExecutor, never, Scope.Scope> => {
  let open = true
  const executor: HostExecutor = {
    executeSql: (text, values) =>
      open
        ? Effect.runPromise(Effect.mapBoth(connection.executeUnprepared(text, values, undefined), {
          onFailure: (error) => error.reason.cause ?? error,
          onSuccess: (rows) => ({ rows })
        }))
        : Promise.reject(new Error("This transaction is over. Await every statement before you answer."))
  }
  return Effect.acquireRelease(Effect.succeed(executor), () =>
    Effect.sync(() => {
      open = false
    }))
}
