import { PickupChangesSuite, PickupStoreSuite, PickupSubscriptionStoreSuite } from "@waybill/conformance/suites"
import { testStorage } from "../TestStorage.ts"

PickupStoreSuite.suite("Postgres", testStorage())
PickupChangesSuite.suite("Postgres", testStorage())
PickupSubscriptionStoreSuite.suite("Postgres", testStorage())
