/** Keeps the order of a changing list while the operator is about to click in it. */

export interface Shown<A> {
  readonly rows: ReadonlyArray<A>
  /** New rows that are hidden until the list is released. */
  readonly newRowsWaiting: number
}

/** While `held`, rows keep their order and update in place; new rows wait, removed rows disappear. */
export const steadyOrder = <A>(before: ReadonlyArray<string>, rows: ReadonlyArray<A>, idOf: (row: A) => string, held: boolean): Shown<A> => {
  if (!held || before.length === 0) return { rows, newRowsWaiting: 0 }
  const byId = new Map(rows.map((row) => [idOf(row), row]))
  const known = before.flatMap((id) => byId.get(id) ?? [])
  return known.length === 0 ? { rows, newRowsWaiting: 0 } : { rows: known, newRowsWaiting: rows.length - known.length }
}
