/** Where the customer is told by e-mail that an endpoint fails. */
import type { PortalContact } from "@waybill/client/portal"
import { useId, useState } from "preact/hooks"
import { ActionResult, Answered } from "../parts/Notes.tsx"
import { Shown } from "../parts/Shown.tsx"
import { useAppState } from "../session/Context.ts"
import { isKeyRefused, sentenceOf } from "../session/Server.ts"
import { usePortal, usePortalClient } from "./SessionContext.ts"

export const Notices = () => {
  const polled = usePortal("#/notices", (client, signal) => client.getContact({ signal }))
  return (
    <>
      <h1 tabIndex={-1}>Notices</h1>
      <p>You get an e-mail when an endpoint has not accepted deliveries for hours, and when the service has paused a subscription: at most one a day for each of them. It contains no freight data.</p>
      <Answered of={polled} missing="Page not found.">{(contact) => <ContactForm contact={contact} saved={polled.refresh} />}</Answered>
    </>
  )
}

const ContactForm = ({ contact: { email, sendsMail }, saved }: { readonly contact: PortalContact; readonly saved: () => void }) => {
  const id = useId()
  const client = usePortalClient()
  const { announce, keyRefused } = useAppState()
  const [written, setWritten] = useState(email ?? "")
  const [busy, setBusy] = useState(false)
  const [result, setResult] = useState<string>()
  const [failure, setFailure] = useState<string>()
  const submit = async (event: Event) => {
    event.preventDefault()
    if (busy) return
    setBusy(true)
    setFailure(undefined)
    setResult(undefined)
    try {
      const { email } = await client.putContact({ email: written.trim() === "" ? null : written.trim() })
      const told = email === null ? "No notices are sent." : `Notices are sent to ${email}.`
      setResult(told)
      announce(told)
      saved()
    } catch (failure) {
      if (isKeyRefused(failure)) return keyRefused(failure)
      setFailure(sentenceOf(failure))
    } finally {
      setBusy(false)
    }
  }
  return (
    <form class="notices" onSubmit={submit}>
      {!sendsMail && <p class="careful">This service sends no e-mail at present. The address is kept for when it does.</p>}
      <ActionResult result={result} />
      <label for={id}>E-mail address <small>(empty: no notices)</small></label>
      <input id={id} type="email" value={written} maxLength={254} autocomplete="email" aria-invalid={failure === undefined ? undefined : true} aria-describedby={`${id}-failure`} onInput={(event) => setWritten(event.currentTarget.value)} />
      <p id={`${id}-failure`}>{failure !== undefined && <strong role="alert" class="failure"><Shown text={failure} /></strong>}</p>
      <button type="submit" aria-busy={busy}>Save</button>
    </form>
  )
}
