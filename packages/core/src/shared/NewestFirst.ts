/** Reading the newest entries of something that may have any number of them, of any size. */

/** Bytes of entries after which a store answers no older ones. */
export const maxNewestBytes = 8_000_000
