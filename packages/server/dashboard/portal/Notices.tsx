/** Where the customer is told that an endpoint fails: by e-mail and by webhook. */
import { WaybillProblem } from "@waybill/client/connection"
import type { NoticeKind, PortalContact } from "@waybill/client/portal"
import { useId, useState } from "preact/hooks"
import { ActionResult, Answered } from "../parts/Notes.tsx"
import { Shown } from "../parts/Shown.tsx"
import { useAppState } from "../session/Context.ts"
import { isKeyRefused, isUncertain, sentenceOf, textIn } from "../session/Server.ts"
import { usePortal, usePortalClient } from "./SessionContext.ts"
import { useKept } from "./useKept.ts"

export const Notices = () => {
  const polled = usePortal("#/notices", (client, signal) => client.getContact({ signal }))
  return (
    <>
      <h1 tabIndex={-1}>Notices</h1>
      <p>You get a notice when attempts to an endpoint fail and end soon, when it has not accepted deliveries for hours, when a delivery has used up its attempts, and when the service has paused a subscription: at most one a day for each of them. It contains no freight data.</p>
      <Answered of={polled}>{(contact) => <ContactForm contact={contact} refresh={polled.refresh} />}</Answered>
    </>
  )
}

const kindNames: Readonly<Record<NoticeKind, string>> = {
  ending: "Attempts end soon",
  failing: "The endpoint fails for hours",
  dead_letter: "A delivery has used up its attempts",
  paused: "The service has paused a subscription"
}

const everyKind = Object.keys(kindNames) as ReadonlyArray<NoticeKind>

/** As the service keeps it: no list if all kinds are chosen. */
const chosenKinds = (chosen: ReadonlyArray<NoticeKind>): ReadonlyArray<NoticeKind> | null => everyKind.every((kind) => chosen.includes(kind)) ? null : chosen

const KindsField = ({ change, chosen, legend }: { readonly legend: string; readonly chosen: ReadonlyArray<NoticeKind>; readonly change: (chosen: ReadonlyArray<NoticeKind>) => void }) => {
  const id = useId()
  return (
    <fieldset>
      <legend>{legend}</legend>
      {everyKind.map((kind) => (
        <div key={kind}>
          <input id={`${id}-${kind}`} type="checkbox" checked={chosen.includes(kind)} onChange={(event) => change(everyKind.filter((each) => each === kind ? event.currentTarget.checked : chosen.includes(each)))} />
          <label for={`${id}-${kind}`}>{kindNames[kind]}</label>
        </div>
      ))}
    </fieldset>
  )
}

/** Whether the service refused this member, by its JSON pointer. */
const hasFault = (failure: unknown, member: string): boolean => failure instanceof WaybillProblem && failure.errors.some(({ pointer }) => pointer === member)

/** What the form has. */
interface Draft {
  readonly email: string
  readonly endpointUrl: string
  readonly hmacSecretId: string
  readonly byEmail: ReadonlyArray<NoticeKind>
  readonly byWebhook: ReadonlyArray<NoticeKind>
}

const draftOf = ({ email, emailKinds, webhook, webhookKinds }: PortalContact): Draft =>
  ({ email: email ?? "", endpointUrl: webhook?.endpointUrl ?? "", hmacSecretId: webhook?.hmacSecretId ?? "", byEmail: emailKinds ?? everyKind, byWebhook: webhookKinds ?? everyKind })

/** What was typed while a save was on its way. */
const typedSince = (now: Partial<Draft> = {}, sent: Partial<Draft> = {}): Partial<Draft> | undefined => {
  const rest = Object.entries(now).filter(([name, value]) => value !== sent[name as keyof Draft])
  return rest.length === 0 ? undefined : Object.fromEntries(rest)
}

const ContactForm = ({ contact, refresh }: { readonly contact: PortalContact; readonly refresh: () => void }) => {
  const id = useId()
  const client = usePortalClient()
  const { announce, keyRefused } = useAppState()
  // only what was typed, so that saving it keeps what another tab has saved since
  const [typed, keep] = useKept<Partial<Draft>>("notices")
  // the answer to a save, until the contact is read again
  const [answer, setAnswer] = useState<{ readonly to: PortalContact; readonly contact: PortalContact }>()
  const { byEmail, byWebhook, email, endpointUrl, hmacSecretId } = { ...draftOf(answer?.to === contact ? answer.contact : contact), ...typed }
  const [busy, setBusy] = useState(false)
  const [result, setResult] = useState<string>()
  const [failure, setFailure] = useState<unknown>()
  const of = (member: string) => ({ "aria-invalid": hasFault(failure, member) || undefined, "aria-describedby": hasFault(failure, member) ? `${id}-failure` : undefined })
  const type = (more: Partial<Draft>) => keep((before) => ({ ...before, ...more }))
  const submit = async (event: Event) => {
    event.preventDefault()
    if (busy) return
    setBusy(true)
    setFailure(undefined)
    setResult(undefined)
    try {
      const address = endpointUrl.trim()
      const saved = await client.putContact({
        email: email.trim() === "" ? null : email.trim(),
        emailKinds: chosenKinds(byEmail),
        webhook: address === "" ? null : { endpointUrl: address, hmacSecretId: hmacSecretId.trim() },
        webhookKinds: chosenKinds(byWebhook)
      })
      const places = [saved.email, saved.webhook && saved.webhook.endpointUrl].flatMap((place) => place === null ? [] : textIn(place))
      setAnswer({ to: contact, contact: saved })
      keep((now) => typedSince(now, typed))
      const told = places.length === 0 ? "No notices are sent." : `Notices are sent to ${places.join(" and ")}.`
      setResult(told)
      announce(told)
      refresh()
    } catch (failure) {
      if (isKeyRefused(failure)) return keyRefused(failure)
      setFailure(failure)
    } finally {
      setBusy(false)
    }
  }
  return (
    <form class="notices" onSubmit={submit}>
      {!contact.sendsMail && <p class="careful">This service sends no e-mail at present. The address is kept for when it does.</p>}
      <ActionResult result={result} />
      <label for={id}>E-mail address <small>(empty: no e-mail)</small></label>
      <input id={id} type="email" value={email} maxLength={254} autocomplete="email" {...of("/email")} onInput={(event) => type({ email: event.currentTarget.value })} />
      <KindsField legend="Notices by e-mail" chosen={byEmail} change={(byEmail) => type({ byEmail })} />
      <label for={`${id}-webhook`}>Webhook address <small>(empty: no webhook; choose an endpoint without other webhooks)</small></label>
      <input id={`${id}-webhook`} type="url" value={endpointUrl} maxLength={2048} {...of("/webhook/endpointUrl")} onInput={(event) => type({ endpointUrl: event.currentTarget.value })} />
      <label for={`${id}-secret`}>Name of the secret that signs it <small>(as in your other subscriptions)</small></label>
      <input id={`${id}-secret`} value={hmacSecretId} maxLength={520} required={endpointUrl.trim() !== ""} {...of("/webhook/hmacSecretId")} onInput={(event) => type({ hmacSecretId: event.currentTarget.value })} />
      <KindsField legend="Notices by webhook" chosen={byWebhook} change={(byWebhook) => type({ byWebhook })} />
      <p id={`${id}-failure`}>{failure !== undefined && <strong role="alert" class="failure"><Shown text={isUncertain(failure) ? `${sentenceOf(failure)} It may have been saved all the same: save it again.` : sentenceOf(failure)} /></strong>}</p>
      {typed !== undefined && <p><small>Not saved yet.</small></p>}
      <button type="submit" aria-busy={busy}>Save</button>
    </form>
  )
}
