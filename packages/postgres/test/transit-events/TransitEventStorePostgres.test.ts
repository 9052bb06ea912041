import { TransitEventStoreSuite } from "@waybill/testkit/suites"
import { testStorage } from "../TestStorage.ts"

TransitEventStoreSuite.suite("Postgres", testStorage())
