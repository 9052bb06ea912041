/** What was found of one requirement. */
export interface Verdict {
  readonly id: string
  readonly sentence: string
  readonly met: boolean
  readonly detail: string
  /** The receiver's answers together. */
  readonly millis: number
}
