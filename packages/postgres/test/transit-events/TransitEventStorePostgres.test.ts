import { TransitEventStoreSuite } from "@waybill/conformance/suites"
import { testStorage } from "../TestStorage.ts"

TransitEventStoreSuite.suite("Postgres", testStorage())
