/** The suites of area A. */
import * as ShipmentStatusStoreSuite from "./ShipmentStatusStoreSuite.ts"
import * as StatusNoticesSuite from "./StatusNoticesSuite.ts"
import * as StatusSubscriptionStoreSuite from "./StatusSubscriptionStoreSuite.ts"

export const shipmentStatusSuites = [ShipmentStatusStoreSuite, StatusSubscriptionStoreSuite, StatusNoticesSuite] as const
