/** The suites of area B. */
import * as DocumentContentsSuite from "./DocumentContentsSuite.ts"
import * as DocumentStoreSuite from "./DocumentStoreSuite.ts"
import * as InvoiceStoreSuite from "./InvoiceStoreSuite.ts"

export const invoicesSuites = [InvoiceStoreSuite, DocumentStoreSuite, DocumentContentsSuite] as const
