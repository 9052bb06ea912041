/** Actions on a whole subscription. */
import { useId, useState } from "preact/hooks"
import { inputOf, instantOfInput } from "../model/time.ts"
import { plural } from "../model/words.ts"
import { Dialog } from "../parts/Dialog.tsx"
import { InstantField, TextField } from "../parts/Fields.tsx"
import { useAppState } from "../session/Context.ts"
import { serverNow, textIn } from "../session/Server.ts"

export interface SubscriptionDialogProps {
  readonly tenantId: string
  readonly subscriptionId: string
  readonly close: (result?: string) => void
}

/** Of a subscription, in a dialog that hides the page behind it. */
export const shortName = (subscriptionId: string): string => `subscription …${subscriptionId.slice(-6)}`

const day = 86_400_000

const given = (value: string, what: string): string => {
  const instant = instantOfInput(value)
  if (instant === undefined) throw new Error(`${what} is not a date and a time.`)
  return instant
}

export const RecoverDialog = ({ close, subscriptionId, tenantId }: SubscriptionDialogProps) => {
  const { client } = useAppState()
  const [since, setSince] = useState(() => inputOf(serverNow() - day))
  const act = async () => {
    const recovered = await client.recover(tenantId, subscriptionId, { since: given(since, "Since") })
    return recovered === 0 ? "No dead letters since then. Nothing is sent." : `${plural(recovered, "dead letter")} ${recovered === 1 ? "is" : "are"} queued again.`
  }
  return (
    <Dialog title="Recover dead letters?" confirm="Recover" act={act} close={close}>
      <p>Every dead letter since then is sent again under its id.</p>
      <InstantField label="Since" value={since} change={setSince} required />
    </Dialog>
  )
}

export const ReplayDialog = ({ area, close, subscriptionId, tenantId }: SubscriptionDialogProps & { readonly area: string }) => {
  const { client } = useAppState()
  const id = useId()
  const [from, setFrom] = useState(() => inputOf(serverNow() - day))
  const [to, setTo] = useState("")
  const [shipments, setShipments] = useState("")
  const act = async () => {
    const shipmentIds = shipments.split("\n").map((line) => line.trim()).filter((line) => line !== "")
    const queued = await client.replay(tenantId, subscriptionId, {
      from: given(from, "From"),
      ...to === "" ? {} : { to: given(to, "To") },
      ...shipmentIds.length === 0 ? {} : { shipmentIds }
    })
    return queued === 0 ? "Nothing matches. Nothing is sent." : `${plural(queued, area === "pickups" ? "change" : "event")} ${queued === 1 ? "is" : "are"} queued.`
  }
  return (
    <Dialog title="Replay history?" confirm="Replay" act={act} close={close}>
      <p>{area === "pickups" ? "Changes of pickups" : "Events"} of that time are sent again in new deliveries, if the subscription's filters and its client's accounts match them now.</p>
      <div class="fields">
        <InstantField label="From" value={from} change={setFrom} required />
        <InstantField label="To, or empty for now" value={to} change={setTo} />
      </div>
      {area === "transit-events" && (
        <>
          <label for={id}>Only these shipments, an id in each line <small>(empty: all)</small></label>
          <textarea id={id} rows={3} value={shipments} spellcheck={false} onInput={(event) => setShipments(event.currentTarget.value)} />
        </>
      )}
    </Dialog>
  )
}

export const ResumeDialog = ({ close, subscriptionId, tenantId }: SubscriptionDialogProps) => {
  const { client } = useAppState()
  const act = async () => {
    const { state } = await client.resume(tenantId, subscriptionId)
    return `The subscription is ${textIn(state)}.`
  }
  return (
    <Dialog title={`Resume ${shortName(subscriptionId)}?`} confirm="Resume" act={act} close={close}>
      <p>Waiting entries are sent in order. For freight charges, dead letters since the pause are sent again first, under their ids.</p>
    </Dialog>
  )
}

export const PauseDialog = ({ close, subscriptionId, tenantId }: SubscriptionDialogProps) => {
  const { client } = useAppState()
  const [reason, setReason] = useState("")
  const act = async () => {
    await client.pause(tenantId, subscriptionId, { reason })
    return "The subscription is paused."
  }
  return (
    <Dialog title={`Pause ${shortName(subscriptionId)}?`} confirm="Pause" act={act} close={close}>
      <p>Nothing more is sent; new entries wait. The client cannot resume the subscription and is shown the reason.</p>
      <TextField label="Reason" value={reason} change={setReason} required />
    </Dialog>
  )
}

export const PurgeDialog = ({ close, subscriptionId, tenantId }: SubscriptionDialogProps) => {
  const { client } = useAppState()
  const act = async () => {
    const dropped = await client.purge(tenantId, subscriptionId)
    return dropped === 0 ? "Nothing was waiting. Nothing was dropped." : `${plural(dropped, "entry", "entries")} dropped.`
  }
  return (
    <Dialog title={`Purge ${shortName(subscriptionId)}?`} confirm="Purge" act={act} close={close}>
      <p>All waiting entries are dropped, and deliveries that wait for a retry are cancelled. Transit events and changes of pickups can be replayed; other notifications are lost.</p>
    </Dialog>
  )
}

export const DeleteDialog = ({ close, subscriptionId, tenantId }: SubscriptionDialogProps) => {
  const { client } = useAppState()
  const act = async () => {
    await client.deleteSubscription(tenantId, subscriptionId)
    return "The subscription is deleted."
  }
  return (
    <Dialog title={`Delete ${shortName(subscriptionId)}?`} confirm="Delete" act={act} close={close}>
      <p>The subscription ends as if its client had deleted it: nothing more is sent, and waiting entries are dropped. This cannot be undone.</p>
    </Dialog>
  )
}
