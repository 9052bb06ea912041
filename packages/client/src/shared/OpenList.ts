/** Types of members: values of open lists, and members that may be unknown. */

/** Unknown members may be left out or be `null`. */
export type Unknown<A> = { readonly [Member in keyof A]?: A[Member] | null }

/** Unknown members are `null`. */
export type OrNull<A> = { readonly [Member in keyof A]: A[Member] | null }

/** One of the listed values, or one that a later version of the interfaces adds: keep a default branch. */
export type OpenList<Known extends string> = Known | (string & {})
