import { TransitSubscriptionStoreSuite } from "@waybill/testkit/suites"
import { testStorage } from "../TestStorage.ts"

TransitSubscriptionStoreSuite.suite("Postgres", testStorage())
