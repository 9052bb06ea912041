/** One faulty change to the engine or the store. */
export interface Mutant {
  readonly name: string
  /** Path below `packages/`. */
  readonly file: string
  /** Text that the file contains exactly once. */
  readonly find: string
  readonly replace: string
  /** Detected only after more than 400 schedules. Searched only by `npm run proof`; `npm test` tries its seed in `MutantSeeds.json`, if there is one. */
  readonly rare?: true
}
