/** The newest entries that a store returns. Entries and result are in the order newest first. */
import { maxHistoryBytes } from "@waybill/core"

/** At most `limit`, and none after `maxHistoryBytes`. */
export const newestWithin = <A>(entries: ReadonlyArray<A>, limit: number, bytesOf: (entry: A) => number): ReadonlyArray<A> => {
  let newer = 0
  return entries.slice(0, limit).filter((entry) => {
    const isWithin = newer <= maxHistoryBytes
    newer += bytesOf(entry)
    return isWithin
  })
}
