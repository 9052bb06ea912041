/** Storage ports on Postgres. */
import { StorageError } from "@waybill/core"
import { type Context, Effect, Layer } from "effect"
import { isSqlError, type SqlError } from "effect/sql/SqlError"
import { makeTakeLock } from "./AdvisoryLock.ts"
import { makeIsDistributed } from "./Citus.ts"
import { database } from "./Database.ts"
import { makeLookup } from "./Lookups.ts"
import { makeSettled } from "./SettledOnCitus.ts"

/** An operation of a port, which may also fail with an SQL error. */
type OnSql<Operation> = Operation extends (...args: infer Args) => Effect.Effect<infer A, infer E, infer R> ? (...args: Args) => Effect.Effect<A, E | SqlError, R>
  : Operation extends Effect.Effect<infer A, infer E, infer R> ? Effect.Effect<A, E | SqlError, R>
  : never

/** The operations of a port, each of which may fail with an SQL error. */
export type Operations<Port> = { readonly [K in keyof Port]: OnSql<Port[K]> }

type Run = (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown, unknown>

/** The port with these operations. An SQL error becomes a `StorageError` that names the operation. */
const operationsOf = <Port extends object>(name: string, operations: Operations<Port>): Port => {
  const named = Object.entries<unknown>(operations).map(([operation, run]) => {
    const refail = Effect.mapError((error: unknown) => isSqlError(error) ? new StorageError({ operation: `${name}.${operation}`, cause: error }) : error)
    return [operation, Effect.isEffect(run) ? refail(run as Effect.Effect<unknown, unknown>) : (...args: ReadonlyArray<unknown>) => refail((run as Run)(...args))]
  })
  return Object.fromEntries(named) as Port
}

const storeParts = Effect.gen(function*() {
  const own = yield* database
  return { ...own, isDistributed: yield* makeIsDistributed(own.name), lookup: yield* makeLookup, settled: yield* makeSettled, takeLock: yield* makeTakeLock }
})

/** What the operations of a store use. */
export type StoreParts = Effect.Success<typeof storeParts>

/** The layer of a port with these operations. */
export const storeLayer = <I, Port extends object>(port: Context.Key<I, Port | undefined>, operations: (parts: StoreParts) => Operations<Port>) =>
  Layer.effect(port, Effect.map(storeParts, (parts) => operationsOf<Port>(port.key.split("/").at(-1)!, operations(parts))))
