import { DeliveryFilterSuite } from "@waybill/conformance/suites"
import { testStorage } from "../../TestStorage.ts"

DeliveryFilterSuite.suite("Postgres", testStorage())
