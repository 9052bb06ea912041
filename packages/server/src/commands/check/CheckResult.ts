/** The result of one check: of a requirement for receivers, or of a rule for implementations. */
export interface CheckResult {
  readonly id: string
  readonly sentence: string
  /** Not checked: something that the check needs is missing. Never counts as passed. */
  readonly status: "passed" | "failed" | "not checked"
  readonly detail: string
  /** Response time, or duration of the whole check. */
  readonly millis: number
  readonly level?: "must" | "should"
  /** Section of the interface. */
  readonly source?: string
  /** The call and its answer, or the delivery, that shows a failure. */
  readonly request?: string
  readonly answer?: string
}

export interface Report {
  readonly url: string
  readonly results: ReadonlyArray<CheckResult>
}

export const withStatus = ({ results }: Report, status: CheckResult["status"]): ReadonlyArray<CheckResult> => results.filter((result) => result.status === status)
