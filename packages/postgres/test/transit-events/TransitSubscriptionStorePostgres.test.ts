import { TransitSubscriptionStoreSuite } from "@waybill/conformance/suites"
import { testStorage } from "../TestStorage.ts"

TransitSubscriptionStoreSuite.suite("Postgres", testStorage())
