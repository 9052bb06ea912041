/** Transactions of the memory stores. */
import { Transaction } from "@waybill/core"
import { Effect, Layer } from "effect"
import { MemoryDatabase } from "./MemoryDatabase.ts"
import { clientInside } from "./TestClient.ts"

export const TransactionMemory = {
  layer: Layer.effect(
    Transaction,
    Effect.map(MemoryDatabase, ({ current, transact }) =>
      Transaction.of({ run: transact, handle: Effect.map(current, (transaction) => clientInside(() => transaction?.open === true)) }))
  )
}
