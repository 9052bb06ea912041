/** One way to break the engine or the store. */
export interface Mutant {
  readonly name: string
  /** From `packages/`. */
  readonly file: string
  /** Text that is there exactly once. */
  readonly find: string
  readonly replace: string
  /** Found in some thousands of schedules only: left to the long form, `npm run proof`. */
  readonly rare?: true
}
