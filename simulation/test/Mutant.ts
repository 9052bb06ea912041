/** One faulty change to the engine or the store. */
export interface Mutant {
  readonly name: string
  /** Path below `packages/`. */
  readonly file: string
  /** Text that the file contains exactly once. */
  readonly find: string
  readonly replace: string
}

/** A mutant of one file: what is wrong with it, the text that is found, and what replaces it. */
export const mutant = (file: string, name: string, find: string, replace: string): Mutant => ({ name, file, find, replace })
