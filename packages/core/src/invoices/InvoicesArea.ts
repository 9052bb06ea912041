/** Area B in the registries of the service. */
import { Effect, Layer } from "effect"
import type { AreaDescriptor, AreaRetention } from "../shared/Area.ts"
import { DocumentContents } from "./DocumentContents.ts"
import { DocumentStore } from "./DocumentStore.ts"
import { InvoiceDocuments } from "./InvoiceDocuments.ts"
import { Invoices } from "./Invoices.ts"
import { InvoiceStore } from "./InvoiceStore.ts"

/** An upload without an end after a day has failed. */
const uploadMillis = 86_400_000

export const invoicesArea = {
  name: "invoices",
  stores: [InvoiceStore, DocumentStore, DocumentContents],
  services: Layer.mergeAll(Invoices.layer, InvoiceDocuments.layer),
  retention: Effect.map(DocumentContents, ({ sweep }): AreaRetention => (tenantId, now) => sweep(tenantId, now - uploadMillis))
} as const satisfies AreaDescriptor
