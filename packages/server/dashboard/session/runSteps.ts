/** Runs a bulk action step by step. */
import { sentenceOf } from "./Server.ts"

interface BulkSteps<Step> {
  readonly call: (cursor: string | undefined) => Promise<Step>
  /** How many a step changed. */
  readonly count: (step: Step) => number
  readonly progress: (changed: number) => void
  /** One sentence with the number. */
  readonly told: (changed: number) => string
}

/** Calls until nothing is left, and returns what to show. A failure after the first change says how far it got. */
export const runSteps = async <Step extends { readonly nextCursor: string | null }>({ call, count, progress, told }: BulkSteps<Step>): Promise<string> => {
  let changed = 0
  let cursor: string | undefined
  try {
    do {
      const step = await call(cursor)
      const done = count(step)
      if (typeof done !== "number") throw new TypeError("The response has no number.")
      changed += done
      progress(changed)
      cursor = step.nextCursor ?? undefined
    } while (cursor !== undefined)
  } catch (failure) {
    if (changed === 0) throw failure
    return `${told(changed)} Then it stopped: ${sentenceOf(failure)} The others are as they were; do it again to go on.`
  }
  return told(changed)
}
