/** The message of anything that was thrown. */
export const messageOf = (error: unknown): string => error instanceof Error ? error.message : String(error)

/** The message without its period, for a sentence that goes on. */
export const clauseOf = (error: unknown): string => messageOf(error).replace(/\.$/, "")
