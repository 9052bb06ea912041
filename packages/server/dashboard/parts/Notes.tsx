/** What a view says when it has nothing to show, or cannot. */
import type { ComponentChildren } from "preact"
import { isNotFound, sentenceOf } from "../session/Session.ts"
import type { Polled } from "../session/usePolled.ts"
import { Shown } from "./Shown.tsx"

/** The view once there is something to show; what failed is told above, what was seen before stays. */
export const Answered = <A,>({ children, missing, of }: {
  readonly of: Polled<A>
  /** What it means that there is no such thing. */
  readonly missing: string
  readonly children: (data: A) => ComponentChildren
}) => (
  <>
    {of.failure !== undefined && (
      <p class="failure" role="status">{isNotFound(of.failure) ? missing : <Shown text={sentenceOf(of.failure)} />}</p>
    )}
    {of.data === undefined ? of.failure === undefined && <p aria-busy="true">Asking the server …</p> : children(of.data)}
  </>
)

export const Empty = ({ children }: { readonly children: ComponentChildren }) => <p class="empty">{children}</p>

/** What came of something the operator did. */
export const Told = ({ told }: { readonly told: string | undefined }) => (told === undefined ? null : <p class="told"><Shown text={told} /></p>)

export const HeldBack = ({ count }: { readonly count: number }) => (
  <p class="held">{count === 0 ? " " : `${count} new, shown when the list is let go.`}</p>
)
