/** Asks for the operator key, and tests it before it is stored. */
import { useEffect, useId, useRef, useState } from "preact/hooks"
import { Shown } from "../parts/Shown.tsx"
import { isKeyRefused, sentenceOf } from "../session/Server.ts"
import { clientWith } from "../session/Session.ts"

interface KeyFormProps {
  /** The key of the page behind it is no longer valid. */
  readonly refused: boolean
  readonly enter: (key: string) => void
}

const stayOpen = (event: KeyboardEvent): void => {
  if (event.key === "Escape") event.preventDefault()
}

export const KeyForm = ({ enter, refused }: KeyFormProps) => {
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState(refused ? "The server no longer accepts this key. Enter a current key to go on where you were." : undefined)
  const dialog = useRef<HTMLDialogElement>(null)
  const entered = useRef(false)

  useEffect(() => {
    const { title } = document
    document.title = "Operator key · Waybill"
    dialog.current?.showModal()
    input.current?.focus()
    // Escape would close this form, and a dialog of the page behind it with what was typed
    if (refused) document.addEventListener("keydown", stayOpen)
    return () => {
      document.title = title
      document.removeEventListener("keydown", stayOpen)
    }
  }, [])

  const submit = async (event: Event) => {
    event.preventDefault()
    // Also accepts the format of the server's settings: name:key or name:read:key.
    const key = input.current!.value.trim().split(":").at(-1)!
    if (busy || key === "") return
    setBusy(true)
    try {
      await clientWith(key).listTenants({ limit: 1 })
      entered.current = true
      // returns the focus to the page behind it
      dialog.current?.close()
      enter(key)
    } catch (failure) {
      // The client throws a TypeError for text that a header cannot contain.
      setFailure(isKeyRefused(failure) || failure instanceof TypeError ? "Invalid operator key." : sentenceOf(failure))
      setBusy(false)
      input.current?.focus()
      input.current?.select()
    }
  }

  const form = (
    <>
      <h1 id={`${id}-title`}>Waybill</h1>
      <form onSubmit={submit}>
        <label for={id}>Operator key</label>
        <input
          id={id}
          ref={input}
          type="password"
          required
          autocomplete="off"
          spellcheck={false}
          aria-invalid={failure === undefined ? undefined : true}
          aria-describedby={`${id}-help`}
        />
        <p id={`${id}-help`}>
          {failure !== undefined && <strong role="alert" class="failure"><Shown text={failure} /></strong>}
          <small>
            A key of <code>WAYBILL_OPERATOR_KEY</code>, or of the file <code>operator-key</code> in the server's data directory. A read-only
            key shows everything but bodies of deliveries. This tab keeps it until it is closed.
          </small>
        </p>
        <button type="submit" aria-busy={busy}>Open</button>
      </form>
    </>
  )
  return !refused ? <main class="key">{form}</main> : (
    <dialog ref={dialog} class="key" aria-labelledby={`${id}-title`} onCancel={(event) => event.preventDefault()} onClose={() => entered.current || dialog.current?.showModal()}>
      <article>{form}</article>
    </dialog>
  )
}
