/** Storage port: one transaction over all areas and the delivery queue. */
import { Context, type Effect, type Scope } from "effect"
import type { StorageError } from "./StorageError.ts"

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
