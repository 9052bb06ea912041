/** Asks for the operator key, and tests it before it is stored. */
import { useEffect, useId, useRef, useState } from "preact/hooks"
import { Shown } from "../parts/Shown.tsx"
import { isKeyRefused, sentenceOf } from "../session/Server.ts"
import { clientWith } from "../session/Session.ts"

interface KeyFormProps {
  /** The stored key is no longer valid. */
  readonly refused: boolean
  readonly enter: (key: string) => void
}

export const KeyForm = ({ enter, refused }: KeyFormProps) => {
  const id = useId()
  const input = useRef<HTMLInputElement>(null)
  const [busy, setBusy] = useState(false)
  const [failure, setFailure] = useState(refused ? "The server no longer accepts this key. Enter a current key." : undefined)

  useEffect(() => {
    document.title = "Operator key · Waybill"
    input.current?.focus()
  }, [])

  const submit = async (event: Event) => {
    event.preventDefault()
    // Also accepts the format of the server's settings: name:key or name:read:key.
    const key = input.current!.value.trim().split(":").at(-1)!
    if (busy || key === "") return
    setBusy(true)
    try {
      await clientWith(key).listTenants({ limit: 1 })
      enter(key)
    } catch (failure) {
      // The client throws a TypeError for text that a header cannot contain.
      setFailure(isKeyRefused(failure) || failure instanceof TypeError ? "Invalid operator key." : sentenceOf(failure))
      setBusy(false)
      input.current?.focus()
      input.current?.select()
    }
  }

  return (
    <main class="key">
      <h1>Waybill</h1>
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
    </main>
  )
}
