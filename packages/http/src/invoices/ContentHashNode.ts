/** Incremental SHA-256 by `node:crypto`. */
import { ContentHash } from "@waybill/core/invoices"
import { Layer } from "effect"
import { createHash } from "node:crypto"

/** SHA-256 of document files. */
export const ContentHashNode = {
  /** The `ContentHash` port on Node's crypto. */
  layer: Layer.succeed(ContentHash, {
    sha256: () => {
      const hash = createHash("sha256")
      return {
        update: (chunk) => {
          hash.update(chunk)
        },
        digest: () => hash.digest()
      }
    }
  })
}
