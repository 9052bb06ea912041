import { ChargeSubscriptionStoreSuite } from "@waybill/testkit/suites"
import { testStorage } from "../TestStorage.ts"

ChargeSubscriptionStoreSuite.suite("Postgres", testStorage())
