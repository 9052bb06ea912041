/** Newest entries as a store answers them. */
import { maxHistoryBytes } from "@waybill/core"

/** `limit` at most, and none before which more than `maxHistoryBytes` are answered. */
export const newestWithin = <A>(entries: ReadonlyArray<A>, limit: number, bytesOf: (entry: A) => number): ReadonlyArray<A> => {
  let newer = 0
  return entries.slice(0, limit).filter((entry) => {
    const isWithin = newer <= maxHistoryBytes
    newer += bytesOf(entry)
    return isWithin
  })
}
