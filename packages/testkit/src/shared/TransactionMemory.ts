/** Transactions of the memory stores. */
import { Transaction } from "@waybill/core"
import { Effect } from "effect"
import { storeLayer } from "./StoreLayer.ts"
import { clientInside } from "./TestClient.ts"

export const layer = storeLayer(Transaction, {}, ({ current, transact }) => ({
  run: transact,
  handle: Effect.map(current, (transaction) => clientInside(() => transaction?.open === true))
}))
