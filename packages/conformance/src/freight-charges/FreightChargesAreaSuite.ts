/** The suites of area E. */
export * as ChargeSubscriptionStoreSuite from "./ChargeSubscriptionStoreSuite.ts"
export * as ChargeWindowsSuite from "./ChargeWindowsSuite.ts"
export * as FreightBillStoreSuite from "./FreightBillStoreSuite.ts"
