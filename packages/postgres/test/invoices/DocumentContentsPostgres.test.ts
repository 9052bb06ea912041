import { DocumentContentsSuite } from "@waybill/conformance/suites"
import { testStorage } from "../TestStorage.ts"

DocumentContentsSuite.suite("Postgres", testStorage())
