/** Where the contents of documents are kept, as one value, for callers who assemble no layers. */
import type { DocumentContents, StorageError, Transaction } from "@waybill/core"
import type { Layer } from "effect"
import { DocumentContentsDirectory } from "../invoices/DocumentContentsDirectory.ts"

const contents = Symbol.for("@waybill/http/DocumentsOutside")

/** Made by `documentsInDirectory` and its like, handed to `createWaybill`, and otherwise nobody's business. */
export interface DocumentsOutside {
  /** @internal */
  readonly [contents]: unknown
}

type ContentsLayer = Layer.Layer<DocumentContents | Transaction, StorageError, Transaction>

/** For a layer of one's own; `outsideOfTransactions` makes one of a plain `DocumentContents`. */
export const documentsOutside = (layer: ContentsLayer): DocumentsOutside => ({ [contents]: layer })

/** In a directory, which every process of the service shares. It is made if it is not there. */
export const documentsInDirectory = (directory: string): DocumentsOutside => documentsOutside(DocumentContentsDirectory.layer({ directory }))

/** `undefined` when the value is none. */
export const contentsLayerOf = (outside: DocumentsOutside): ContentsLayer | undefined =>
  (outside as { readonly [contents]: ContentsLayer } | undefined)?.[contents]
