import { DeliveryLogSuite } from "@waybill/conformance/suites"
import { testStorage } from "../../TestStorage.ts"

DeliveryLogSuite.suite("Postgres", testStorage())
