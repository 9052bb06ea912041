/** Area B in memory. */
import { Layer } from "effect"
import * as DocumentContentsMemory from "./DocumentContentsMemory.ts"
import * as DocumentStoreMemory from "./DocumentStoreMemory.ts"
import * as InvoiceStoreMemory from "./InvoiceStoreMemory.ts"
import { InvoiceTables } from "./InvoiceTables.ts"

export const invoicesArea = {
  stores: Layer.mergeAll(InvoiceStoreMemory.layer, DocumentStoreMemory.layer, DocumentContentsMemory.layer),
  tables: InvoiceTables.layer
} as const
