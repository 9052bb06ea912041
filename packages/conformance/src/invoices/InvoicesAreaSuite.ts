/** The suites of area B. */
export * as DocumentContentsSuite from "./DocumentContentsSuite.ts"
export * as DocumentStoreSuite from "./DocumentStoreSuite.ts"
export * as InvoiceStoreSuite from "./InvoiceStoreSuite.ts"
