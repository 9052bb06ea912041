import { FreightBillStoreSuite } from "@waybill/testkit/suites"
import { testStorage } from "../TestStorage.ts"

FreightBillStoreSuite.suite("Postgres", testStorage())
