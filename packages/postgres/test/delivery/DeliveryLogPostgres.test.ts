import { DeliveryLogSuite } from "@waybill/testkit/suites"
import { testStorage } from "../TestStorage.ts"

DeliveryLogSuite.suite("Postgres", testStorage())
