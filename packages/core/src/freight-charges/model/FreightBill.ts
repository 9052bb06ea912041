/** A freight bill with its versions, and how a change applies to it. */
import { isOwn } from "../../access/model/Principal.ts"
import type { FaultCode } from "../../shared/Fault.ts"
import { accountChange, addedItems, billEntry, type EarlierLog, invoiced, isAccountChange, isBillEntry, isInvoiced, isPublished, type LogItem } from "./ChargeLog.ts"
import type { BillChange, ChargeJson } from "./PreliminaryFreightCharge.ts"
import { hasRevenueImpact } from "./RevenueImpact.ts"

/** `removed`: has no debtor now. `final`: invoiced; no more changes. */
export type BillState = "open" | "removed" | "final"

/** A parsed change. */
export interface ReadChange {
  readonly billId: string
  readonly change: BillChange
  /** The version number that the sender assigned. */
  readonly given: number | undefined
  /** Distinct and sorted. Empty when removed. */
  readonly accounts: ReadonlyArray<string>
  /** `undefined` when removed. */
  readonly charge: ChargeJson | undefined
  readonly log: ReadonlyArray<LogItem>
  readonly messages: ReadonlyArray<LogItem>
  /** Equal for equal content and accounts. */
  readonly fingerprint: string
}

/** One version of a bill, with the log entries that came with it. */
export interface BillVersion {
  readonly version: number
  /** The number that the sender gave it, if it is another one. */
  readonly label?: number
  /** When Waybill accepted it, in milliseconds since 1970. Missing in versions stored by older releases. */
  readonly at?: number
  readonly change: BillChange
  readonly fingerprint: string
  readonly accounts: ReadonlyArray<string>
  /** Whether it may change the price. */
  readonly impact: boolean
  /** The log entries that this version adds, as they were sent. */
  readonly log: ReadonlyArray<LogItem>
  readonly messages: ReadonlyArray<LogItem>
  /** Entries that Waybill adds before and after `log`. */
  readonly opening: ReadonlyArray<LogItem>
  readonly closing: ReadonlyArray<LogItem>
}

/** A freight bill with all its versions. */
export interface FreightBill {
  readonly billId: string
  readonly state: BillState
  /** Grants of the carrier that reported the bill first, in tenants with several carriers (`carrierOf`). Other carriers cannot report or see it. */
  readonly carrier?: ReadonlyArray<string>
  /** Content of the last version with a debtor. */
  readonly charge: ChargeJson
  /** In order; at least one. */
  readonly versions: ReadonlyArray<BillVersion>
}

/** Sets the acceptance time of the current version. */
export const takenAt = (bill: FreightBill, at: number): FreightBill => ({
  ...bill,
  versions: [...bill.versions.slice(0, -1), { ...currentOf(bill), at }]
})

/** The current version. */
export const currentOf = (bill: FreightBill): BillVersion => bill.versions[bill.versions.length - 1]!

/** What a report does to a bill. `path` leads to the fault in the report. */
export type BillDecision =
  | { readonly _tag: "Accepted"; readonly bill: FreightBill }
  | { readonly _tag: "Duplicate"; readonly version: number }
  | { readonly _tag: "Refused"; readonly path: ReadonlyArray<string>; readonly detail: string; readonly code: FaultCode }

const refused = (path: ReadonlyArray<string>, detail: string, code: FaultCode): BillDecision => ({ _tag: "Refused", path, detail, code })

const versionPath = ["pfc", "pfc", "header", "function"]

/**
 * Applies a change. A repeated change is a duplicate. SPEC-GAP-E11. For a `writer` (`carrierOf`), another carrier's bill does not exist,
 * and a new bill becomes its own.
 */
export const applyChange = (known: FreightBill | undefined, requested: ReadChange, writer?: ReadonlyArray<string>): BillDecision => {
  const { billId, change, given } = requested
  if (known === undefined && (change === "created" || change === "updated")) {
    return { _tag: "Accepted", bill: { ...firstVersion(requested), ...(writer === undefined ? {} : { carrier: writer }) } }
  }
  if (known === undefined || !isOwn(writer, known.carrier ?? [])) {
    // only another carrier's bill refuses what would begin one
    const next = change === "created" || change === "updated" ? "Use another uniqueID: the PRO, your own SCAC and the ship date." : "Report it as created first."
    return refused(["pfc", "pfc", "uniqueID"], `You have no bill ${billId}. ${next}`, "unknown_reference")
  }
  const repeatedVersion = repeated(known, requested)
  if (repeatedVersion !== undefined) return { _tag: "Duplicate", version: repeatedVersion }
  const current = currentOf(known).version
  if (given !== undefined && !isNextNumber(known, requested)) {
    const number = numberOf(currentOf(known))
    const what = given > number ? `its next version is PFC${number + 1}` : `PFC${given} is known with other content`
    return refused(versionPath, `Bill ${billId} is at PFC${number}: ${what}. Send PFC${number + 1}, or leave header.function out.`, "conflict")
  }
  if (known.state === "final") {
    return refused(["change"], `Bill ${billId} is final since PFC${current}: it was invoiced, and nothing changes any more.`, "conflict")
  }
  if (change === "created" && known.state === "open") {
    return refused(["change"], `Bill ${billId} exists, at PFC${current}, with other content. Report what changed as updated.`, "conflict")
  }
  return { _tag: "Accepted", bill: nextVersion(known, requested) }
}

/** The number that the sender knows a version by. */
const numberOf = ({ label, version }: BillVersion): number => label ?? version

/**
 * Whether a number continues the sender's count. The published examples label the final notice with the number of the version before it, and a
 * removal and the bill of the new debtor with one number. A bill that starts again may also start at 1.
 */
const isNextNumber = (known: FreightBill, { change, given }: ReadChange): boolean => {
  const current = currentOf(known)
  if (given === current.version + 1 || given === numberOf(current) + 1) return true
  if (change === "final") return given === numberOf(current)
  return known.state === "removed" && change !== "removed" && (given === numberOf(current) || (change === "created" && given === 1))
}

/** The version with the same content, if any. */
const repeated = (known: FreightBill, { change, fingerprint, given }: ReadChange): number | undefined => {
  const same = (each: BillVersion) => each.fingerprint === fingerprint
  if (given !== undefined) {
    return known.versions.find((each) => numberOf(each) === given && same(each) && (each.change === "final") === (change === "final"))?.version
  }
  const current = currentOf(known)
  if (current.change === change && same(current)) return current.version
  // a late retry of the first report is a duplicate; after a removal it starts the bill again
  return change === "created" && known.state !== "removed"
    ? known.versions.find((each) => each.change === "created" && same(each))?.version
    : undefined
}

const firstVersion = (requested: ReadChange): FreightBill => ({
  billId: requested.billId,
  state: "open",
  charge: requested.charge!,
  versions: [{
    version: requested.given ?? 1,
    change: requested.change,
    fingerprint: requested.fingerprint,
    accounts: requested.accounts,
    impact: true,
    log: requested.log,
    messages: requested.messages,
    opening: requested.log.some(isBillEntry) ? [] : [billEntry],
    closing: []
  }]
})

const nextVersion = (known: FreightBill, requested: ReadChange): FreightBill => {
  const { accounts, change, charge, given } = requested
  const before = currentOf(known)
  const moved = !sameAccounts(accounts, before.accounts)
  // the previous debtors are notified of a removal
  const readers = change === "removed" ? before.accounts : accounts
  const log = addedItems(requested.log, earlierLog(known, readers))
  return {
    ...known,
    state: change === "removed" ? "removed" : change === "final" ? "final" : "open",
    charge: charge ?? known.charge,
    versions: [...known.versions, {
      version: before.version + 1,
      ...(given === undefined || given === before.version + 1 ? {} : { label: given }),
      change,
      fingerprint: requested.fingerprint,
      accounts,
      impact: charge === undefined || change === "final" || moved || log.some(isPublished) || hasRevenueImpact(known.charge, charge),
      log,
      messages: addedItems(requested.messages, earlierMessages(known, readers)),
      opening: moved && charge !== undefined && !log.some(isAccountChange) ? [accountChange] : [],
      closing: change === "final" && !log.some(isInvoiced) ? [invoiced] : []
    }]
  }
}

/** Both lists are distinct and sorted. */
const sameAccounts = (a: ReadonlyArray<string>, b: ReadonlyArray<string>): boolean =>
  a.length === b.length && a.every((account, at) => account === b[at])

/** The log entries that a version shows. */
export const shownLog = ({ closing, log, opening }: BillVersion): ReadonlyArray<LogItem> => [...opening, ...log, ...closing]

const ofOthers = (known: FreightBill, accounts: ReadonlyArray<string>) =>
  known.versions.filter((each) => !sameAccounts(each.accounts, accounts))

const earlierLog = (known: FreightBill, accounts: ReadonlyArray<string>): EarlierLog => ({
  posted: known.versions.flatMap((each) => each.log),
  shown: known.versions.flatMap(shownLog),
  foreign: ofOthers(known, accounts).flatMap((each) => each.log)
})

const earlierMessages = (known: FreightBill, accounts: ReadonlyArray<string>): EarlierLog => {
  const posted = known.versions.flatMap((each) => each.messages)
  return { posted, shown: posted, foreign: ofOthers(known, accounts).flatMap((each) => each.messages) }
}

/** The stored JSON. */
export const billDoc = ({ carrier, charge, versions }: FreightBill): string => JSON.stringify({ carrier, charge, versions })

/** Reads a bill from its row. */
export const billFrom = (row: { readonly billId: string; readonly state: BillState; readonly doc: string }): FreightBill => ({
  billId: row.billId,
  state: row.state,
  ...JSON.parse(row.doc) as Pick<FreightBill, "carrier" | "charge" | "versions">
})
