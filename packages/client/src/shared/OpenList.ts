/** Text that may be one of the names listed, or one that a later version of the interfaces adds: keep a default branch. */
export type OpenList<Known extends string> = Known | (string & {})
