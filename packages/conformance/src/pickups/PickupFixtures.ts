/** Rows for the suites of pickups. */
import type { PickupHistoryEntry, PickupRow } from "@waybill/core/pickups"
import { idOf, occurredAt } from "../StorageFixtures.ts"

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
