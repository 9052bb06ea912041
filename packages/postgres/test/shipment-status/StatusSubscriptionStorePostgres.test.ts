import { StatusSubscriptionStoreSuite } from "@waybill/conformance/suites"
import { testStorage } from "../TestStorage.ts"

StatusSubscriptionStoreSuite.suite("Postgres", testStorage())
