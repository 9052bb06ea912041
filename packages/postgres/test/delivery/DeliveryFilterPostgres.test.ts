import { DeliveryFilterSuite } from "@waybill/testkit/suites"
import { testStorage } from "../TestStorage.ts"

DeliveryFilterSuite.suite("Postgres", testStorage())
