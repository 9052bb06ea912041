/** Changes of freight bills as a carrier's system publishes them. */
import type { BillChange } from "@waybill/core/freight-charges"
import { billChange, type BillChangeOverrides } from "@waybill/testkit"

/** One item of an intake call. The debtor is A1 by default. */
export const charge = (change: BillChange, uniqueID: string, overrides: BillChangeOverrides = {}) => billChange(change, uniqueID, { account: "A1", ...overrides })
