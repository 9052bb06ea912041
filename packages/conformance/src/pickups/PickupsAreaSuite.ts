/** The suites of area C. */
export * as PickupChangesSuite from "./PickupChangesSuite.ts"
export * as PickupStoreSuite from "./PickupStoreSuite.ts"
export * as PickupSubscriptionStoreSuite from "./PickupSubscriptionStoreSuite.ts"
