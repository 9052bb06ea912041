/** Conformance suites: what each storage port promises, for any adapter. They run under vitest. */
export * as AccessStoreSuite from "./access/AccessStoreSuite.ts"
export * as SecretStoreSuite from "./delivery/SecretStoreSuite.ts"
export * as WakeupsSuite from "./delivery/WakeupsSuite.ts"
export * as TransactionSuite from "./shared/TransactionSuite.ts"
export * as TransitEventStoreSuite from "./transit-events/TransitEventStoreSuite.ts"
export * as TransitSubscriptionStoreSuite from "./transit-events/TransitSubscriptionStoreSuite.ts"
