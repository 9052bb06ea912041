/** A storage port failed: the storage is unreachable, out of space, or returned invalid data. */
import { Effect, Schema } from "effect"

/** `operation` names the port's method. The cause is logged with its correlation id and never leaves the process. */
export class StorageError extends Schema.TaggedError<StorageError>()("StorageError", {
  operation: Schema.String,
  cause: Schema.Defect()
}) {
  override get message(): string {
    return `Storage failed in ${this.operation}`
  }

  /** Wraps any failure of an adapter in a `StorageError` that names the operation. */
  static readonly refail = (operation: string) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.mapError(effect, (cause) => cause instanceof StorageError ? cause : new StorageError({ operation, cause }))
}
