import { AccessStoreSuite } from "@waybill/testkit/suites"
import { testStorage } from "../TestStorage.ts"

AccessStoreSuite.suite("Postgres", testStorage())
