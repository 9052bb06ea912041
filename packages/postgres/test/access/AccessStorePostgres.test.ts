import { AccessStoreSuite } from "@waybill/conformance/suites"
import { testStorage } from "../TestStorage.ts"

AccessStoreSuite.suite("Postgres", testStorage())
