/** The operations of a port on Postgres. */
import { StorageError } from "@waybill/core"
import { type Context, Effect } from "effect"
import { isSqlError, type SqlError } from "effect/sql/SqlError"

/** An operation of a port, which may also fail with an SQL error. */
type OnSql<Operation> = Operation extends (...args: infer Args) => Effect.Effect<infer A, infer E, infer R> ? (...args: Args) => Effect.Effect<A, E | SqlError, R>
  : Operation extends Effect.Effect<infer A, infer E, infer R> ? Effect.Effect<A, E | SqlError, R>
  : never

/** What `operationsOf` takes. */
export type Operations<Port> = { readonly [K in keyof Port]: OnSql<Port[K]> }

type Run = (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown, unknown>

/** The port with these operations. An SQL error becomes a `StorageError` that names the operation. */
export const operationsOf = <Port extends object>(port: Context.Key<unknown, Port | undefined>, operations: Operations<Port>): Port => {
  const name = port.key.split("/").at(-1)!
  const named = Object.entries<unknown>(operations).map(([operation, run]) => {
    const refail = Effect.mapError((error: unknown) => isSqlError(error) ? new StorageError({ operation: `${name}.${operation}`, cause: error }) : error)
    return [operation, Effect.isEffect(run) ? refail(run as Effect.Effect<unknown, unknown>) : (...args: ReadonlyArray<unknown>) => refail((run as Run)(...args))]
  })
  return Object.fromEntries(named) as Port
}
