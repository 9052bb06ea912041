import { DeliveryControlSuite } from "@waybill/conformance/suites"
import { testStorage } from "../../TestStorage.ts"

DeliveryControlSuite.suite("Postgres", testStorage())
