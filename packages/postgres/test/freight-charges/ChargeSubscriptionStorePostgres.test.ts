import { ChargeSubscriptionStoreSuite } from "@waybill/conformance/suites"
import { testStorage } from "../TestStorage.ts"

ChargeSubscriptionStoreSuite.suite("Postgres", testStorage())
