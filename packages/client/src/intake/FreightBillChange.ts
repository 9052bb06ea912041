/** Changes of freight bills that the carrier's system publishes. */
import type { ChargeLog, PreliminaryFreightCharge } from "../freight-charges/FreightCharge.ts"

/** A bill without its version, if you want the service to count versions. */
export interface ReportedCharge extends Omit<PreliminaryFreightCharge, "pfc"> {
  readonly pfc: Omit<PreliminaryFreightCharge["pfc"], "header"> & { readonly header?: { readonly function?: string } }
}

/** A new version of a bill. `final`: invoiced, no version follows. */
export interface FreightBillVersion {
  readonly change: "created" | "updated" | "final"
  /** Accounts of the debtor and its agents. Default: the bill-to account. */
  readonly accounts?: ReadonlyArray<string>
  readonly pfc: ReportedCharge
}

/** Removes the bill: it has no debtor. Needs only its id; log and messages may give the reason. */
export interface FreightBillRemoval {
  readonly change: "removed"
  readonly accounts?: ReadonlyArray<string>
  readonly pfc: {
    readonly pfc: { readonly uniqueID: string; readonly function?: string; readonly header?: { readonly function?: string } }
    readonly charges?: ChargeLog
  }
}

/** One item of `POST /intake/v1/freight-charges`: a version of a bill, or its removal. */
export type FreightBillChange = FreightBillVersion | FreightBillRemoval
