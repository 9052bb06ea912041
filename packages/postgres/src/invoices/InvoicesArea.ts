/** Area B on Postgres. */
import { Layer } from "effect"
import type { PostgresArea } from "../Area.ts"
import * as DocumentContentsPostgres from "./DocumentContentsPostgres.ts"
import * as DocumentStorePostgres from "./DocumentStorePostgres.ts"
import * as InvoiceStorePostgres from "./InvoiceStorePostgres.ts"

export const invoicesArea = {
  stores: Layer.mergeAll(InvoiceStorePostgres.layer, DocumentStorePostgres.layer, DocumentContentsPostgres.layer),
  payloads: []
} as const satisfies PostgresArea
