import { CarriersSuite } from "@waybill/testkit/suites"
import { testStorage } from "../TestStorage.ts"

CarriersSuite.suite("Postgres", testStorage())
