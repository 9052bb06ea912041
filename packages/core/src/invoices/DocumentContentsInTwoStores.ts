/** Document contents in two stores, after the setting of the store was changed: new ones go to the first, the second has older ones. */
import { Effect } from "effect"
import type { DocumentContents } from "./DocumentContents.ts"

type Contents = DocumentContents["Service"]

/** An id is in one store only, so the order of reading changes no result. */
export const inTwoStores = (first: Contents, second: Contents): Contents => ({
  open: first.open,
  keep: first.keep,
  read: (tenantId, contentId, chunk) =>
    Effect.flatMap(first.read(tenantId, contentId, chunk), (bytes) => bytes === undefined ? second.read(tenantId, contentId, chunk) : Effect.succeed(bytes)),
  remove: (tenantId, contentIds) => Effect.andThen(first.remove(tenantId, contentIds), second.remove(tenantId, contentIds)),
  // processes that still have the earlier setting upload to the second
  sweep: (tenantId, writtenBefore) =>
    Effect.zipWith(first.sweep(tenantId, writtenBefore), second.sweep(tenantId, writtenBefore), (one, other) => one + other)
})
