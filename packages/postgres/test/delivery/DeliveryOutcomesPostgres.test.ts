import { DeliveryOutcomesSuite } from "@waybill/testkit/suites"
import { testStorage } from "../TestStorage.ts"

DeliveryOutcomesSuite.suite("Postgres", testStorage())
