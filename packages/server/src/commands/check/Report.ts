/** The results of a check, for its reports. */
import type { CheckResult } from "@waybill/conformance"

export interface Report {
  readonly url: string
  readonly results: ReadonlyArray<CheckResult>
}

export const withStatus = ({ results }: Report, status: CheckResult["status"]): ReadonlyArray<CheckResult> => results.filter((result) => result.status === status)
