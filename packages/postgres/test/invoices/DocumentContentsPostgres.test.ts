import { DocumentContentsSuite } from "@waybill/testkit/suites"
import { testStorage } from "../TestStorage.ts"

DocumentContentsSuite.suite("Postgres", testStorage())
