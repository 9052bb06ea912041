import { StatusSubscriptionStoreSuite } from "@waybill/testkit/suites"
import { testStorage } from "../TestStorage.ts"

StatusSubscriptionStoreSuite.suite("Postgres", testStorage())
