/** Transactions of the memory stores. */
import { Transaction } from "@waybill/core"
import { Effect, Layer } from "effect"
import { MemoryDatabase } from "./MemoryDatabase.ts"

export const TransactionMemory = {
  layer: Layer.effect(
    Transaction,
    Effect.map(MemoryDatabase, (database) => Transaction.of({ run: database.transact }))
  )
}
