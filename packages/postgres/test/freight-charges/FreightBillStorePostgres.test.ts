import { FreightBillStoreSuite } from "@waybill/conformance/suites"
import { testStorage } from "../TestStorage.ts"

FreightBillStoreSuite.suite("Postgres", testStorage())
