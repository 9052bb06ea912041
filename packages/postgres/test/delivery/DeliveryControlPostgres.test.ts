import { DeliveryControlSuite } from "@waybill/testkit/suites"
import { testStorage } from "../TestStorage.ts"

DeliveryControlSuite.suite("Postgres", testStorage())
