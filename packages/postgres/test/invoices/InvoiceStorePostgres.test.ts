import { InvoiceStoreSuite } from "@waybill/conformance/suites"
import { testStorage } from "../TestStorage.ts"

InvoiceStoreSuite.suite("Postgres", testStorage())
