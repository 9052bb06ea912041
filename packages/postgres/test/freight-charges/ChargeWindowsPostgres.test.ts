import { ChargeWindowsSuite } from "@waybill/testkit/suites"
import { testStorage } from "../TestStorage.ts"

ChargeWindowsSuite.suite("Postgres", testStorage())
