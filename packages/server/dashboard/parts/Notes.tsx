/** Messages of a view that is loading, empty or failed. */
import type { ComponentChildren } from "preact"
import { useEffect } from "preact/hooks"
import { useAppState } from "../session/Context.ts"
import { isNotFound, sentenceOf } from "../session/Server.ts"
import type { Polled } from "../session/usePolled.ts"
import { Shown } from "./Shown.tsx"

/** Shows the view once there is data for it. An error appears above it, and the last data stays. */
export const Answered = <A,>({ children, missing, of }: {
  readonly of: Polled<A>
  /** Message for an object that does not exist, instead of the server's. */
  readonly missing?: string
  readonly children: (data: A) => ComponentChildren
}) => {
  const { announce } = useAppState()
  const sentence = of.failure === undefined ? undefined : missing !== undefined && isNotFound(of.failure) ? missing : sentenceOf(of.failure)
  useEffect(() => {
    if (sentence !== undefined) announce(sentence)
  }, [sentence])
  return (
    <>
      {sentence !== undefined && <p class="failure"><Shown text={sentence} /></p>}
      {of.data === undefined || of.stale ? sentence === undefined && <p aria-busy="true">Loading …</p> : children(of.data)}
    </>
  )
}

export const Empty = ({ children }: { readonly children: ComponentChildren }) => <p class="empty">{children}</p>

/** Result of an operator's action. */
export const ActionResult = ({ result }: { readonly result: string | undefined }) => (result === undefined ? null : <p class="result" tabIndex={-1}><Shown text={result} /></p>)

export const NewRowsWaiting = ({ count }: { readonly count: number }) => (
  <p class="waiting">{count === 0 ? " " : `${count} new. They appear when you leave the list.`}</p>
)
