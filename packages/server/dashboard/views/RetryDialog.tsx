/** Sends deliveries again, one by one. */
import type { Delivery } from "@waybill/client/operator"
import { useState } from "preact/hooks"
import { plural } from "../model/words.ts"
import { Dialog } from "../parts/Dialog.tsx"
import { type ChosenDelivery, oneByOne } from "../session/oneByOne.ts"

/** Deliveries in progress are sent anyway, and those of a deleted subscription cannot be sent. */
export const isRetryable = ({ state }: Pick<Delivery, "state">): boolean => state !== "sending" && state !== "cancelled"

interface RetryDialogProps {
  readonly retry: (deliveryId: string) => Promise<void>
  readonly deliveries: ReadonlyArray<ChosenDelivery>
  readonly close: (result?: string) => void
}

export const RetryDialog = ({ close, deliveries, retry }: RetryDialogProps) => {
  const [done, setDone] = useState(0)
  // The selection when the dialog opened, even if the list changes.
  const [chosen] = useState(deliveries)
  const many = plural(chosen.length, "delivery", "deliveries")
  const one = `…${chosen[0]?.deliveryId.slice(-6)}`

  const act = async () => {
    const failures = await oneByOne(chosen, retry, () => setDone((done) => done + 1))
    if (failures.length === 0) return chosen.length === 1 ? `Delivery ${one} is queued again.` : `${many} are queued again.`
    return `${chosen.length - failures.length} of ${many} are queued again. The others: ${[...new Set(failures)].join(" ")}`
  }

  return (
    <Dialog title={chosen.length === 1 ? `Send delivery ${one} again?` : `Send ${many} again?`} confirm={chosen.length === 1 ? "Send again" : `Send ${many} again`} act={act} close={close}>
      <p>The same bytes are sent under the same id, with a full series of attempts.</p>
      {chosen.some(({ state }) => state === "delivered") && (
        <p>The receiver accepted {chosen.length === 1 ? "it" : "some of them"} already. A receiver that removes duplicates skips what it has; another handles it twice.</p>
      )}
      {chosen.length > 1 && <p><progress value={done} max={chosen.length} aria-label="Sent" /></p>}
    </Dialog>
  )
}

export const RetryButton = ({ ask, delivery }: { readonly delivery: Delivery; readonly ask: (delivery: Delivery) => void }) => (
  <button type="button" class="secondary outline small" disabled={!isRetryable(delivery)} onClick={() => ask(delivery)}>
    Retry<span class="hidden"> delivery ending in {delivery.deliveryId.slice(-6)}</span> …
  </button>
)
