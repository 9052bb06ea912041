/** Storage of document contents as one value, for callers without layers. */
import type { DocumentContents, StorageError, Transaction } from "@waybill/core"
import type { Layer } from "effect"
import { DocumentContentsDirectory } from "../invoices/DocumentContentsDirectory.ts"

const contents = Symbol.for("@waybill/http/DocumentsOutside")

/** Created by `documentsInDirectory` and similar functions for `createWaybill`; opaque to callers. */
export interface DocumentsOutside {
  /** @internal */
  readonly [contents]: unknown
}

type ContentsLayer = Layer.Layer<DocumentContents | Transaction, StorageError, Transaction>

/** Wraps a custom layer; `outsideOfTransactions` creates one from a plain `DocumentContents`. */
export const documentsOutside = (layer: ContentsLayer): DocumentsOutside => ({ [contents]: layer })

/** Stores contents in a directory, which all processes of the service must share. It is created if absent. */
export const documentsInDirectory = (directory: string): DocumentsOutside => documentsOutside(DocumentContentsDirectory.layer({ directory }))

/** `undefined` when the value was not created here. */
export const contentsLayerOf = (outside: DocumentsOutside): ContentsLayer | undefined =>
  (outside as { readonly [contents]: ContentsLayer } | undefined)?.[contents]
