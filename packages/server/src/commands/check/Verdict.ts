/** What is required, and what was found of it. */
export interface Verdict {
  readonly id: string
  readonly sentence: string
  readonly met: boolean
  readonly detail: string
  /** What is checked took so long to answer; of publishers, all of the look at it. */
  readonly millis: number
}

/** One requirement of what is checked. */
export interface Check extends Pick<Verdict, "id" | "sentence"> {
  readonly find: () => Promise<Pick<Verdict, "met" | "detail"> & {
    /** What the answers took, where that can be told. */
    readonly millis?: number
    /** Nobody is there: no verdict makes sense. */
    readonly unreachable?: string
  }>
}
