import { InvoiceStoreSuite } from "@waybill/testkit/suites"
import { testStorage } from "../TestStorage.ts"

InvoiceStoreSuite.suite("Postgres", testStorage())
