/** What every storage port shares: one transaction over all areas and the delivery queue, and the failure of any of their methods. */
import { Context, Effect, Schema, type Scope } from "effect"
import { taggedFailure } from "./TaggedFailure.ts"

/** The `operation` of a failure of a host's transaction: to repeat the call alone does not help, the host repeats its transaction. */
export const hostTransaction = "within"

/**
 * A storage port failed: the storage is unreachable, out of space, or returned invalid data. `operation` names the port's method. The
 * cause is logged with its correlation id and never leaves the process.
 */
export class StorageError extends taggedFailure<StorageError>()("StorageError", {
  operation: Schema.String,
  cause: Schema.Defect()
}, ({ operation }) => `Storage failed in ${operation}`) {
  /** Wraps any failure of an adapter in a `StorageError` that names the operation. */
  static readonly refail = (operation: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.mapError(effect, (cause) => cause instanceof StorageError ? cause : new StorageError({ operation, cause }))
}

/**
 * Runs an effect in a transaction. Its writes through any storage port commit together, or not at all.
 *
 * When the host has already opened a transaction, the effect joins it.
 */
export class Transaction extends Context.Service<Transaction, {
  readonly run: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | StorageError, R>
  /**
   * The open transaction, for statements of the host's own code until the scope closes. Each adapter has its own type of handle.
   * Used inside `run`.
   */
  readonly handle: Effect.Effect<unknown, StorageError, Scope.Scope>
}>()("@waybill/core/shared/Transaction") {}

/** The transaction of the host that the call joins, as the host passed it; `undefined` if Waybill opens its own. */
export class HostTransaction extends Context.Reference<unknown>("@waybill/core/shared/HostTransaction", {
  defaultValue: () => undefined
}) {}
