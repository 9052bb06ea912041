/** Entries of a partner's folder that are never read, for the log. */

/** An entry, and why it is not read, with what to do. */
export interface LeftOut {
  readonly name: string
  readonly reason: string
}

/** Most entries that one look names. A folder to which a partner writes may have any number of them. */
export const maxLeftOut = 20

/** Called by each look at the folder with the first `maxLeftOut` entries by name. */
export type OnLeftOut = (entries: ReadonlyArray<LeftOut>) => void

/** By name, so that equal folders name the same entries. */
export const firstLeftOut = (entries: ReadonlyArray<LeftOut>): ReadonlyArray<LeftOut> =>
  [...entries].sort((a, b) => a.name < b.name ? -1 : 1).slice(0, maxLeftOut)
