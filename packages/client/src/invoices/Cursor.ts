/** Lists of area B: JSON arrays, with the cursor of the next page in a header. */
import type { OpenAnswer } from "../connection/Connection.ts"
import { WaybillCallFailed } from "../connection/WaybillProblem.ts"

/** One page of a list. */
export interface CursorPage<A> {
  readonly data: ReadonlyArray<A>
  /** Pass it as `cursor` to get the next page; `undefined` on the last page. */
  readonly nextCursor: string | undefined
}

export const nextCursorOf = ({ call, headers }: Pick<OpenAnswer, "call" | "headers">, cursor: string | undefined): string | undefined => {
  const next = headers.get("x-next-cursor") ?? undefined
  if (next === undefined || next === "") return undefined
  if (next !== cursor) return next
  throw new WaybillCallFailed(call, "unreadable_answer", "the next page is the same page again.")
}
