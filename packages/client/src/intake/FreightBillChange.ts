/** What happens to freight bills, as the carrier's own system hands it in. */
import type { PreliminaryFreightCharge } from "../freight-charges/FreightCharge.ts"

/** The version may be left to the service, which counts. */
export interface ReportedCharge extends Omit<PreliminaryFreightCharge, "pfc"> {
  readonly pfc: Omit<PreliminaryFreightCharge["pfc"], "header"> & { readonly header?: { readonly function?: string } }
}

/** `final`: invoiced; nothing follows. */
export interface FreightBillVersion {
  readonly change: "created" | "updated" | "final"
  /** The debtor's accounts and its agents'. Left out, the account it bills to. */
  readonly accounts?: ReadonlyArray<string>
  readonly pfc: ReportedCharge
}

/** Nobody owes the bill any more; only its name is needed. */
export interface FreightBillRemoval {
  readonly change: "removed"
  readonly accounts?: ReadonlyArray<string>
  readonly pfc: { readonly pfc: { readonly uniqueID: string; readonly header?: { readonly function?: string } } }
}

export type FreightBillChange = FreightBillVersion | FreightBillRemoval
