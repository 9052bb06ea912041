/** The change log of a freight bill: the entries and messages that each version adds, and entries that Waybill adds. */
import { canonicalText } from "../../shared/Json.ts"
import { meaningOf } from "./EventCode.ts"

/** An entry or message as JSON. Unknown members are kept. */
export type LogItem = Readonly<Record<string, unknown>>

/** SPEC-GAP-E8 */
export const billEntry: LogItem = { eventCategoryName: "Bill Entry", eventCode: "OTHR", carrierCode: "BILL" }
/** Entry that tells a new debtor of the change. SPEC-GAP-E8 */
export const accountChange: LogItem = { eventCategoryName: "Account CHG", eventCode: "ACTCHG" }
/** Entry of the last version: the bill was invoiced. SPEC-GAP-E8 */
export const invoiced: LogItem = { eventCategoryName: "Invoice", eventCode: "FINL" }
/** Entry that tells the old debtor of the change. SPEC-GAP-E13 */
export const noLongerDebtor: LogItem = { eventCategoryName: "Account CHG - Cancel", eventCode: "ACTCHG", carrierCode: "CANCEL" }
/** Message to the old debtor. SPEC-GAP-E13 */
export const noLongerDebtorMessage: LogItem = { informationalMessage: "You are no longer the debtor of this shipment." }

const saysCode = (entry: LogItem, code: string): boolean =>
  [entry["eventCode"], entry["carrierCode"]].some((each) => typeof each === "string" && each.trim().toUpperCase() === code)

/** Whether the entry is that of a bill's first version. */
export const isBillEntry = (entry: LogItem): boolean => String(entry["eventCategoryName"] ?? "").toLowerCase() === "bill entry" || saysCode(entry, "BILL")
/** Whether the entry is a change of the debtor. */
export const isAccountChange = (entry: LogItem): boolean => meaningOf(entry["eventCode"]) === "ACTCHG"
/** Whether the entry tells a debtor that it is one no longer. */
export const isCancellation = (entry: LogItem): boolean => saysCode(entry, "CANCEL")
/** Whether the entry is that of a bill's last version. */
export const isInvoiced = (entry: LogItem): boolean => meaningOf(entry["eventCode"]) === "FINL"
/** The published list has only events that may change the charges. */
export const isPublished = (entry: LogItem): boolean => meaningOf(entry["eventCode"]) !== undefined

/** Items of earlier versions, to find out which items are new. */
export interface EarlierLog {
  /** As the carrier's system sent them, in version order. */
  readonly posted: ReadonlyArray<LogItem>
  /** With the entries that Waybill added. */
  readonly shown: ReadonlyArray<LogItem>
  /** Items sent while the bill belonged to other accounts. */
  readonly foreign: ReadonlyArray<LogItem>
}

/**
 * Finds the items that a version adds. Some systems send new items only, others the whole log; a log that starts with all earlier items
 * is a whole log. If other accounts owed the bill before, their items are always left out. SPEC-GAP-E9
 */
export const addedItems = (items: ReadonlyArray<LogItem>, earlier: EarlierLog): ReadonlyArray<LogItem> =>
  after(items, earlier.shown) ?? after(items, earlier.posted) ?? without(items, earlier.foreign)

const after = (items: ReadonlyArray<LogItem>, before: ReadonlyArray<LogItem>): ReadonlyArray<LogItem> | undefined =>
  before.every((each, at) => canonicalText(each) === canonicalText(items[at])) ? items.slice(before.length) : undefined

/** Removes each item as often as it occurs in `others`. */
const without = (items: ReadonlyArray<LogItem>, others: ReadonlyArray<LogItem>): ReadonlyArray<LogItem> => {
  const left = new Map<string, number>()
  for (const each of others) left.set(canonicalText(each), (left.get(canonicalText(each)) ?? 0) + 1)
  return items.filter((item) => {
    const text = canonicalText(item)
    const count = left.get(text) ?? 0
    if (count > 0) left.set(text, count - 1)
    return count === 0
  })
}
