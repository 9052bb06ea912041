/** Rows for the suites of pickups. */
import { type PickupHistoryEntry, type PickupRow, PickupStore } from "@waybill/core/pickups"
import { Effect } from "effect"
import { bytesOf, idOf, occurredAt } from "../StorageFixtures.ts"

export const pickupRow = (n: number, parts: Partial<PickupRow> = {}): PickupRow => ({
  pickupId: idOf(n),
  number: `10000000${n}`,
  isTest: false,
  client: "client",
  accounts: [],
  carrier: undefined,
  status: "Accepted",
  waits: false,
  doc: `{"n":${n}}`,
  pros: [],
  createdAt: occurredAt + n,
  ...parts
})

export const historyEntry = (n: number, position = 1): PickupHistoryEntry => ({
  pickupId: idOf(n),
  position,
  at: occurredAt + position,
  doc: `{"at":${position}}`
})

/** An entry of the work list. */
export const change = (body: string) => ({ body: bytesOf(body), traceparent: undefined })

export const order = (tenantId: string, n: number, parts: Partial<PickupRow> = {}) =>
  Effect.flatMap(PickupStore, (store) => store.insert(tenantId, pickupRow(n, parts), historyEntry(n), change(`ordered ${n}`)))
