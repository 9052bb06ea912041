/** The suites of area E. */
import * as ChargeSubscriptionStoreSuite from "./ChargeSubscriptionStoreSuite.ts"
import * as ChargeWindowsSuite from "./ChargeWindowsSuite.ts"
import * as FreightBillStoreSuite from "./FreightBillStoreSuite.ts"

export const freightChargesSuites = [FreightBillStoreSuite, ChargeSubscriptionStoreSuite, ChargeWindowsSuite] as const
