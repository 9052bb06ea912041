/** The suites of area C. */
import * as PickupChangesSuite from "./PickupChangesSuite.ts"
import * as PickupStoreSuite from "./PickupStoreSuite.ts"
import * as PickupSubscriptionStoreSuite from "./PickupSubscriptionStoreSuite.ts"

export const pickupsSuites = [PickupChangesSuite, PickupStoreSuite, PickupSubscriptionStoreSuite] as const
