/** SHA-256 in pieces by `node:crypto`. */
import { ContentHash } from "@waybill/core"
import { Layer } from "effect"
import { createHash } from "node:crypto"

export const ContentHashNode = {
  /** The `ContentHash` port over Node's own crypto. */
  layer: Layer.succeed(ContentHash, {
    sha256: () => {
      const hash = createHash("sha256")
      return {
        update: (piece) => {
          hash.update(piece)
        },
        digest: () => hash.digest()
      }
    }
  })
}
