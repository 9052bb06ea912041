/** Storage of document contents as one value, for callers without layers. */
import { optionKinds, type StorageError, type Transaction } from "@waybill/core"
import type { DocumentContents } from "@waybill/core/invoices"
import type { Layer } from "effect"
import { DocumentContentsDirectory } from "../invoices/DocumentContentsDirectory.ts"

const contents = Symbol.for("@waybill/http/ExternalDocuments")

/** Created by `documentsInDirectory` and similar functions for `createWaybill`; opaque to callers. */
export interface ExternalDocuments {
  /** @internal */
  readonly [contents]: unknown
}

type ContentsLayer = Layer.Layer<DocumentContents | Transaction, StorageError, Transaction>

/** Wraps a custom layer; `externalDocumentContents` creates one from a plain `DocumentContents`. */
export const externalDocuments = (layer: ContentsLayer): ExternalDocuments => ({ [contents]: layer })

/** Stores contents in a directory, which all processes of the service must share. It is created if absent, those above it are not. */
export const documentsInDirectory = (directory: string): ExternalDocuments => {
  // an empty text would be the working directory
  if (!optionKinds.text.accepts(directory)) throw new TypeError("documentsInDirectory takes the path of a directory.")
  return externalDocuments(DocumentContentsDirectory.layer({ directory }))
}

/** `undefined` when the value was not created here. */
export const contentsLayerOf = (documents: ExternalDocuments): ContentsLayer | undefined =>
  (documents as { readonly [contents]: ContentsLayer } | undefined)?.[contents]
