/** A requirement and the result of its check. */
export interface Verdict {
  readonly id: string
  readonly sentence: string
  readonly met: boolean
  readonly detail: string
  /** Response time in milliseconds; for publishers, the duration of the whole check. */
  readonly millis: number
}

/** One check. */
export interface Check extends Pick<Verdict, "id" | "sentence"> {
  readonly find: () => Promise<Pick<Verdict, "met" | "detail"> & {
    /** Response time, if it was measured. */
    readonly millis?: number
    /** Set when the address does not respond, so that no verdict is possible. */
    readonly unreachable?: string
  }>
}
