/** Rows of a list that changes while somebody is about to press something in it. */

export interface Shown<A> {
  readonly rows: ReadonlyArray<A>
  /** New ones that wait until the list is let go. */
  readonly heldBack: number
}

/** While `held`, rows keep their places and change only within; what is new waits, what is gone goes. */
export const steadyOrder = <A>(before: ReadonlyArray<string>, rows: ReadonlyArray<A>, idOf: (row: A) => string, held: boolean): Shown<A> => {
  if (!held || before.length === 0) return { rows, heldBack: 0 }
  const byId = new Map(rows.map((row) => [idOf(row), row]))
  const known = before.flatMap((id) => byId.get(id) ?? [])
  return known.length === 0 ? { rows, heldBack: 0 } : { rows: known, heldBack: rows.length - known.length }
}
