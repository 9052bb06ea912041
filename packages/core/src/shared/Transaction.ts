/** Storage port: one transaction over all areas and the delivery queue. */
import { Context, type Effect } from "effect"
import type { StorageError } from "./StorageError.ts"

/**
 * Runs an effect in a transaction. Its writes through any storage port commit together, or not at all.
 *
 * When the host has already opened a transaction, the effect joins it.
 */
export class Transaction extends Context.Service<Transaction, {
  readonly run: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | StorageError, R>
}>()("@waybill/core/shared/Transaction") {}
