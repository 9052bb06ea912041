import { ChargeWindowsSuite } from "@waybill/conformance/suites"
import { testStorage } from "../TestStorage.ts"

ChargeWindowsSuite.suite("Postgres", testStorage())
