import { DocumentStoreSuite } from "@waybill/conformance/suites"
import { testStorage } from "../TestStorage.ts"

DocumentStoreSuite.suite("Postgres", testStorage())
