/** Entries of a partner's folder that are never read, for the log. */

/** An entry, and why it is not read, with what to do. */
export interface SkippedEntry {
  readonly name: string
  readonly reason: string
}

/** Most entries that one read names. A folder to which a partner writes may have any number of them. */
const maxSkipped = 20

/** Called by each read of the folder with the first `maxSkipped` entries by name. */
export type OnSkipped = (entries: ReadonlyArray<SkippedEntry>) => void

/** By name, so that equal folders name the same entries. */
export const firstSkipped = (entries: ReadonlyArray<SkippedEntry>): ReadonlyArray<SkippedEntry> =>
  [...entries].sort((a, b) => a.name < b.name ? -1 : 1).slice(0, maxSkipped)
