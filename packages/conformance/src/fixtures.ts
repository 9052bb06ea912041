/** Data for tests of storage adapters: tenants, subscriptions and events, and reproducible random numbers. They need no test framework. */
export * from "./SeededRandom.ts"
export * from "./StorageFixtures.ts"
export { settledWithout } from "./WorkerFixtures.ts"
