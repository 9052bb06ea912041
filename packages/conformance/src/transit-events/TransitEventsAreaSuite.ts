/** The suites of area D. */
import * as TransitEventStoreSuite from "./TransitEventStoreSuite.ts"
import * as TransitSubscriptionStoreSuite from "./TransitSubscriptionStoreSuite.ts"

export const transitEventsSuites = [TransitEventStoreSuite, TransitSubscriptionStoreSuite] as const
