/** Reads the newest entries of a history of any length, with entries of any size. */

/** Total size in bytes after which a store returns no older entries. */
export const maxNewestBytes = 8_000_000
