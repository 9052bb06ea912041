/** One of the listed values, or one that a later version of the interfaces adds: keep a default branch. */
export type OpenList<Known extends string> = Known | (string & {})
