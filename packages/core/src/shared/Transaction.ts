/** Storage port: one transaction that spans areas and the delivery queue. */
import { Context, type Effect } from "effect"
import type { StorageError } from "./StorageError.ts"

/**
 * Runs an effect so that everything it writes through any storage port becomes visible together, or not at all.
 *
 * Inside a transaction that the host already holds, it joins that one.
 */
export class Transaction extends Context.Service<Transaction, {
  readonly run: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | StorageError, R>
}>()("@waybill/core/shared/Transaction") {}
