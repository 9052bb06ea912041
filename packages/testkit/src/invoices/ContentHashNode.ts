/** Incremental SHA-256 with `node:crypto`, for tests. */
import { ContentHash } from "@waybill/core/invoices"
import { Layer } from "effect"
import { createHash } from "node:crypto"

export const ContentHashNode = {
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
