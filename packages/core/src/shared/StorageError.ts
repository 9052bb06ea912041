/** A storage port failed: the storage is unreachable, out of space, or returned invalid data. */
import { Effect, Schema } from "effect"
import { taggedFailure } from "./TaggedFailure.ts"

/** The `operation` of a failure of a host's transaction: to repeat the call alone does not help, the host repeats its transaction. */
export const hostTransaction = "within"

/** `operation` names the port's method. The cause is logged with its correlation id and never leaves the process. */
export class StorageError extends taggedFailure<StorageError>()("StorageError", {
  operation: Schema.String,
  cause: Schema.Defect()
}, ({ operation }) => `Storage failed in ${operation}`) {
  /** Wraps any failure of an adapter in a `StorageError` that names the operation. */
  static readonly refail = (operation: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.mapError(effect, (cause) => cause instanceof StorageError ? cause : new StorageError({ operation, cause }))
}
