/** Profiles and files of tests. */
import { type PartnerProfile, partnerProfile, type TransactionSet } from "@waybill/edi"
import { read, sets } from "./x12/Samples.ts"

export const partnerOf = (more: Partial<PartnerProfile> = {}): PartnerProfile =>
  partnerProfile({ partner: "acme", them: { qualifier: "02", id: "ABCD" }, us: { qualifier: "ZZ", id: "WAYBILL" }, version: "004010", sets: ["214"], ...more })

/** A file with one set; `segments` stand between ST and SE. */
export const fileOf = (segments: ReadonlyArray<string>, set = "214", { functionalId = "QM", version = "004010" } = {}): string =>
  [
    `ISA*00*          *00*          *02*ABCD           *ZZ*WAYBILL        *261120*1415*${version < "004020" ? "U" : "^"}*${version.slice(0, 5)}*000000007*0*P*>`,
    `GS*${functionalId}*ABCD*WAYBILL*20261120*1415*7*X*${version}`,
    `ST*${set}*0001`,
    ...segments,
    `SE*${segments.length + 2}*0001`,
    "GE*1*7",
    "IEA*1*000000007",
    ""
  ].join("~\n")

export const setOf = (segments: ReadonlyArray<string>, set?: string, options?: { readonly functionalId?: string; readonly version?: string }): TransactionSet => {
  const [first] = sets(read(fileOf(segments, set, options)))
  if (first === undefined || first.faults.length > 0) throw new Error(JSON.stringify(first?.faults ?? "no set"))
  return first.set
}
