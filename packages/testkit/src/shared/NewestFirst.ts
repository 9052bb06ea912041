/** The first entries that a store returns within a number of bytes. */
import { maxHistoryBytes } from "@waybill/core"

/** At most `limit` of entries that are in the order newest first, and none after `maxHistoryBytes`. */
export const newestWithin = <A>(entries: ReadonlyArray<A>, limit: number, bytesOf: (entry: A) => number): ReadonlyArray<A> =>
  firstWithin(entries, { limit, bytes: maxHistoryBytes + 1 }, bytesOf)

/** At most `limit`, and none after `bytes`. */
export const firstWithin = <A>(entries: ReadonlyArray<A>, { bytes, limit }: { readonly limit: number; readonly bytes: number }, bytesOf: (entry: A) => number): ReadonlyArray<A> => {
  let before = 0
  return entries.slice(0, limit).filter((entry) => {
    const isWithin = before < bytes
    before += bytesOf(entry)
    return isWithin
  })
}
