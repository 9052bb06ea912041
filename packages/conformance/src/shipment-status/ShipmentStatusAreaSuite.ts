/** The suites of area A. */
export * as ShipmentStatusStoreSuite from "./ShipmentStatusStoreSuite.ts"
export * as StatusNoticesSuite from "./StatusNoticesSuite.ts"
export * as StatusSubscriptionStoreSuite from "./StatusSubscriptionStoreSuite.ts"
