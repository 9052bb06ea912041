/** One faulty change to the engine or the store. */
export interface Mutant {
  readonly name: string
  /** Path below `packages/`. */
  readonly file: string
  /** Text that the file contains exactly once. */
  readonly find: string
  readonly replace: string
}

/** A mutant of one file. `change` has one member: the text that is found, and what replaces it. */
export const mutant = (file: string, name: string, change: Readonly<Record<string, string>>): Mutant => {
  const [found, ...others] = Object.entries(change)
  if (found === undefined || others.length > 0) throw new Error(`${name}: one text is replaced.`)
  return { name, file, find: found[0], replace: found[1] }
}
