import { CarriersSuite } from "@waybill/conformance/suites"
import { testStorage } from "../TestStorage.ts"

CarriersSuite.suite("Postgres", testStorage())
