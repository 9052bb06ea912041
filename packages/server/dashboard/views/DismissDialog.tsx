/** Dismisses dead letters, one by one. */
import { useState } from "preact/hooks"
import { plural } from "../model/words.ts"
import { Dialog } from "../parts/Dialog.tsx"
import { useAppState } from "../session/Context.ts"
import { type ChosenDelivery, oneByOne } from "../session/oneByOne.ts"

interface DismissDialogProps {
  readonly tenantId: string
  readonly deliveries: ReadonlyArray<ChosenDelivery>
  readonly close: (result?: string) => void
}

export const DismissDialog = ({ close, deliveries, tenantId }: DismissDialogProps) => {
  const { client } = useAppState()
  const [done, setDone] = useState(0)
  // The selection when the dialog opened, even if the list changes.
  const [chosen] = useState(deliveries)
  const many = plural(chosen.length, "dead letter")

  const act = async () => {
    const failures = await oneByOne(chosen, (deliveryId) => client.dismissDelivery(tenantId, deliveryId), () => setDone((done) => done + 1))
    if (failures.length === 0) return `${many} dismissed.`
    return `${chosen.length - failures.length} of ${many} dismissed. The others: ${[...new Set(failures)].join(" ")}`
  }

  return (
    <Dialog title={`Dismiss ${many}?`} confirm={`Dismiss ${many}`} act={act} close={close}>
      <p>Dismissed dead letters no longer count and are not recovered. Each can still be retried.</p>
      {chosen.length > 1 && <p><progress value={done} max={chosen.length} aria-label="Dismissed" /></p>}
    </Dialog>
  )
}
