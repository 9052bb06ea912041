/** A freight bill with its versions, and what a change makes of it. */
import { isOwn } from "../../access/model/Principal.ts"
import type { FaultCode } from "../../shared/Fault.ts"
import { accountChange, addedItems, billEntry, type EarlierLog, invoiced, isAccountChange, isBillEntry, isInvoiced, type LogItem } from "./ChargeLog.ts"
import type { BillChange, ChargeJson } from "./PreliminaryFreightCharge.ts"
import { hasRevenueImpact } from "./RevenueImpact.ts"

/** `removed`: nobody is the debtor now. `final`: invoiced, nothing more comes. */
export type BillState = "open" | "removed" | "final"

/** A change that passed its schema. */
export interface ReadChange {
  readonly billId: string
  readonly change: BillChange
  /** The version the sender gave it. */
  readonly given: number | undefined
  /** Distinct and sorted; empty when removed. */
  readonly accounts: ReadonlyArray<string>
  /** `undefined` when removed. */
  readonly charge: ChargeJson | undefined
  readonly log: ReadonlyArray<LogItem>
  readonly messages: ReadonlyArray<LogItem>
  /** Equal for equal content, the accounts included. */
  readonly fingerprint: string
}

export interface BillVersion {
  readonly version: number
  /** When the service took it, in milliseconds since 1970; versions from before it was kept have none. */
  readonly at?: number
  readonly change: BillChange
  readonly fingerprint: string
  readonly accounts: ReadonlyArray<string>
  /** Whether it may change what the freight costs. */
  readonly impact: boolean
  /** What this version adds to the log, as it was sent. */
  readonly log: ReadonlyArray<LogItem>
  readonly messages: ReadonlyArray<LogItem>
  /** Marks that were missing, before and after it. */
  readonly opening: ReadonlyArray<LogItem>
  readonly closing: ReadonlyArray<LogItem>
}

export interface FreightBill {
  readonly billId: string
  readonly state: BillState
  /** What the carrier that reported it first is known by, where a tenant has several (`carrierOf`). Nothing else reports or sees it. */
  readonly carrier?: ReadonlyArray<string>
  /** What the last version that had a debtor said. */
  readonly charge: ChargeJson
  /** In order, one at least. */
  readonly versions: ReadonlyArray<BillVersion>
}

/** Says when the version that counts now was taken. */
export const takenAt = (bill: FreightBill, at: number): FreightBill => ({
  ...bill,
  versions: [...bill.versions.slice(0, -1), { ...currentOf(bill), at }]
})

/** The version that counts now. */
export const currentOf = (bill: FreightBill): BillVersion => bill.versions[bill.versions.length - 1]!

export type BillDecision =
  | { readonly _tag: "Accepted"; readonly bill: FreightBill }
  | { readonly _tag: "Duplicate"; readonly version: number }
  | { readonly _tag: "Refused"; readonly path: ReadonlyArray<string>; readonly detail: string; readonly code: FaultCode }

const refused = (path: ReadonlyArray<string>, detail: string, code: FaultCode): BillDecision => ({ _tag: "Refused", path, detail, code })

const versionPath = ["pfc", "pfc", "header", "function"]

/**
 * What a change makes of a bill. The same change again is a duplicate. SPEC-GAP-E11 Another carrier's bill is unknown to a `writer`
 * (`carrierOf`); what it reports first is its own.
 */
export const applyChange = (known: FreightBill | undefined, asked: ReadChange, writer?: ReadonlyArray<string>): BillDecision => {
  const { billId, change, given } = asked
  if (known === undefined && (change === "created" || change === "updated")) {
    return { _tag: "Accepted", bill: { ...firstVersion(asked), ...(writer === undefined ? {} : { carrier: writer }) } }
  }
  if (known === undefined || !isOwn(writer, known.carrier ?? [])) {
    return refused(["pfc", "pfc", "uniqueID"], `No bill ${billId} is known. Report it as created first.`, "unknown_reference")
  }
  const again = repeated(known, asked)
  if (again !== undefined) return { _tag: "Duplicate", version: again }
  const current = currentOf(known).version
  if (given !== undefined && given !== current + 1) {
    const what = given > current ? `its next version is PFC${current + 1}` : `PFC${given} is known with other content`
    return refused(versionPath, `Bill ${billId} is at PFC${current}: ${what}. Send PFC${current + 1}, or leave header.function out.`, "conflict")
  }
  if (known.state === "final") {
    return refused(["change"], `Bill ${billId} is final since PFC${current}: it was invoiced, and nothing changes any more.`, "conflict")
  }
  if (change === "created" && known.state === "open") {
    return refused(["change"], `Bill ${billId} exists, at PFC${current}, with other content. Report what changed as updated.`, "conflict")
  }
  return { _tag: "Accepted", bill: nextVersion(known, asked) }
}

/** The version that said the same already. */
const repeated = (known: FreightBill, { change, fingerprint, given }: ReadChange): number | undefined => {
  const same = (each: BillVersion) => each.fingerprint === fingerprint
  if (given !== undefined) return known.versions.find((each) => each.version === given && same(each))?.version
  const current = currentOf(known)
  if (current.change === change && same(current)) return current.version
  // a first report that is sent again late; once the bill is removed, it is a new beginning
  return change === "created" && known.state !== "removed"
    ? known.versions.find((each) => each.change === "created" && same(each))?.version
    : undefined
}

const firstVersion = (asked: ReadChange): FreightBill => ({
  billId: asked.billId,
  state: "open",
  charge: asked.charge!,
  versions: [{
    version: asked.given ?? 1,
    change: asked.change,
    fingerprint: asked.fingerprint,
    accounts: asked.accounts,
    impact: true,
    log: asked.log,
    messages: asked.messages,
    opening: asked.log.some(isBillEntry) ? [] : [billEntry],
    closing: []
  }]
})

const nextVersion = (known: FreightBill, asked: ReadChange): FreightBill => {
  const { accounts, change, charge } = asked
  const before = currentOf(known)
  const moved = !sameAccounts(accounts, before.accounts)
  const log = addedItems(asked.log, earlierLog(known, accounts))
  return {
    ...known,
    state: change === "removed" ? "removed" : change === "final" ? "final" : "open",
    charge: charge ?? known.charge,
    versions: [...known.versions, {
      version: before.version + 1,
      change,
      fingerprint: asked.fingerprint,
      accounts,
      impact: charge === undefined || change === "final" || moved || hasRevenueImpact(known.charge, charge),
      log,
      messages: addedItems(asked.messages, earlierMessages(known, accounts)),
      opening: moved && charge !== undefined && !log.some(isAccountChange) ? [accountChange] : [],
      closing: change === "final" && !log.some(isInvoiced) ? [invoiced] : []
    }]
  }
}

/** Both are distinct and sorted. */
const sameAccounts = (a: ReadonlyArray<string>, b: ReadonlyArray<string>): boolean =>
  a.length === b.length && a.every((account, at) => account === b[at])

/** What a version shows of the log. */
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

/** As the store keeps it. */
export const billDoc = ({ carrier, charge, versions }: FreightBill): string => JSON.stringify({ carrier, charge, versions })

export const billFrom = (row: { readonly billId: string; readonly state: BillState; readonly doc: string }): FreightBill => ({
  billId: row.billId,
  state: row.state,
  ...JSON.parse(row.doc) as Pick<FreightBill, "carrier" | "charge" | "versions">
})
