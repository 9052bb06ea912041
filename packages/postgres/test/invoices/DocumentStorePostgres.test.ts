import { DocumentStoreSuite } from "@waybill/testkit/suites"
import { testStorage } from "../TestStorage.ts"

DocumentStoreSuite.suite("Postgres", testStorage())
