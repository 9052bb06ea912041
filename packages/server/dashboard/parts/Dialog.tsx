/** A dialog that asks for confirmation before an action. */
import type { ComponentChildren } from "preact"
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks"
import { isKeyRefused, isUncertain, sentenceOf } from "../session/Server.ts"
import { useAppState } from "../session/Context.ts"
import { setUnsaved } from "../session/unsaved.ts"
import { Shown } from "./Shown.tsx"

interface DialogProps {
  readonly title: string
  readonly confirm: string
  /** Runs the action, and returns a message with its result. */
  readonly act: () => Promise<string>
  /** Called once, with the message if the action was done. */
  readonly close: (result?: string) => void
  readonly children: ComponentChildren
}

/** The result of the action gets the focus, because the action may remove or disable what opened the dialog. After Cancel the browser returns the focus there. */
export const Dialog = ({ act, children, close, confirm, title }: DialogProps) => {
  const app = useAppState()
  const dialog = useRef<HTMLDialogElement>(null)
  const id = useId()
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState<string>()

  const ended = useRef(false)

  useLayoutEffect(() => {
    // screen readers read it with the title
    const explanation = dialog.current!.querySelector("form > p")
    if (explanation !== null) explanation.id = `${id}-explanation`
    dialog.current!.showModal()
    return () => setUnsaved(id, false)
  }, [])

  const closed = (result?: string) => {
    ended.current = true
    dialog.current?.close()
    close(result)
    requestAnimationFrame(() => {
      if (result !== undefined) document.querySelector<HTMLElement>("main .result")?.focus({ preventScroll: true })
      else if (document.activeElement === document.body) document.querySelector<HTMLElement>("main h1")?.focus()
    })
  }
  const submit = async (event: Event) => {
    event.preventDefault()
    if (busy) return
    setBusy(true)
    setFailure(undefined)
    try {
      closed(await act())
    } catch (failure) {
      const refused = isKeyRefused(failure)
      if (refused) app.keyRefused(failure)
      setFailure(refused ? "Nothing was done: the key was refused. Confirm again." : isUncertain(failure) ? `${sentenceOf(failure)} The action may have been done all the same: look at the data before you repeat it.` : sentenceOf(failure))
      setBusy(false)
    }
  }

  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      aria-describedby={`${id}-explanation`}
      onCancel={(event) => {
        event.preventDefault()
        if (!busy) closed()
      }}
      // browsers close a dialog at a repeated Escape, whatever was answered to the first
      onClose={() => {
        if (ended.current) return
        if (busy) dialog.current?.showModal()
        else closed()
      }}
    >
      <article>
        <h2 id={id}><Shown text={title} /></h2>
        <form onSubmit={submit} onInput={() => setUnsaved(id, true, "view")}>
          {children}
          {failure !== undefined && <p role="alert" class="failure"><Shown text={failure} /></p>}
          <footer>
            <button type="button" class="secondary outline" disabled={busy} onClick={() => closed()}>Cancel</button>
            {/* the second click of a double click that opened the dialog confirms nothing */}
            <button type="submit" aria-busy={busy} onClick={(event) => event.detail > 1 && event.preventDefault()}>{confirm}</button>
          </footer>
        </form>
      </article>
    </dialog>
  )
}
