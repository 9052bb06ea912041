/** Timeline of freight bills: one entry per version. */
import { currentOf, type BillVersion, type FreightBill } from "../../freight-charges/model/FreightBill.ts"
import { parseInstant } from "../../shared/Instant.ts"
import { membersOf } from "../../shared/Json.ts"
import type { TimelineEvent } from "./JourneyEntry.ts"

const text = (value: unknown): string | undefined => typeof value === "string" && value !== "" ? value : undefined

/** The shipment's numbers on a bill. */
export const numbersOfBill = ({ charge }: FreightBill): { readonly pro: string | undefined; readonly bol: string | undefined } => {
  const { bol, pro } = membersOf(charge["referenceNumbers"])
  return { pro: text(pro), bol: Array.isArray(bol) ? text(bol[0]) : undefined }
}

export const timelineOfBill = (bill: FreightBill, size: number): ReadonlyArray<TimelineEvent> => {
  const current = currentOf(bill)
  return bill.versions.map((version) => ({
    at: version.at ?? undatedAt(bill),
    area: "freight-charges",
    kind: version.change,
    title: `Freight charges ${version.change}, PFC${version.version}${version === current && version.change !== "removed" ? totalOf(bill) : ""}`,
    reference: bill.billId,
    document: documentOf(bill, version, version === current),
    size: version === current ? size : 0
  }))
}

/** The full content is stored for the latest version only. */
const documentOf = (bill: FreightBill, version: BillVersion, isCurrent: boolean) => {
  const { accounts, change, log, messages } = version
  return { uniqueID: bill.billId, version: version.version, change, accounts, changeLog: log, changeLogMessages: messages, ...(isCurrent ? { pfc: bill.charge } : {}) }
}

/** Versions stored without a time use the bill's own date, as if it were UTC. */
const undatedAt = ({ charge }: FreightBill): number => {
  const date = text(membersOf(charge["pfc"])["date"]) ?? ""
  return parseInstant(date) ?? parseInstant(`${date}Z`) ?? parseInstant(`${date}T00:00:00Z`) ?? 0
}

const totalOf = ({ charge }: FreightBill): string => {
  const { currencyType, preliminaryTotalCharges } = membersOf(charge["charges"])
  if (typeof preliminaryTotalCharges !== "number") return ""
  return `, ${preliminaryTotalCharges.toFixed(2)}${text(currencyType) === undefined ? "" : ` ${currencyType as string}`}`
}
