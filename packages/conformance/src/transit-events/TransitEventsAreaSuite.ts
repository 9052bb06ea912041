/** The suites of area D. */
export * as TransitEventStoreSuite from "./TransitEventStoreSuite.ts"
export * as TransitSubscriptionStoreSuite from "./TransitSubscriptionStoreSuite.ts"
