/** Changes the settings of a subscription. */
import type { OperatorSubscription, SubscriptionChange } from "@waybill/client/operator"
import { useId, useState } from "preact/hooks"
import { deliverySettings } from "../model/words.ts"
import { Dialog } from "../parts/Dialog.tsx"
import { NumberField, TextField } from "../parts/Fields.tsx"
import { useAppState } from "../session/Context.ts"
import { shortName, type SubscriptionDialogProps } from "./SubscriptionDialogs.tsx"

/** Areas whose interface can change a subscription. */
const editable: ReadonlyArray<string> = ["transit-events", "pickups"]

export const isEditable = ({ area }: Pick<OperatorSubscription, "area">): boolean => editable.includes(area)

const linesOf = (list: unknown): string => Array.isArray(list) ? list.join("\n") : ""

const listOf = (lines: string): ReadonlyArray<string> => lines.split(/[\n,]/).map((line) => line.trim()).filter((line) => line !== "")

export const EditDialog = ({ close, subscription, tenantId }: Omit<SubscriptionDialogProps, "subscriptionId"> & { readonly subscription: OperatorSubscription }) => {
  const { client } = useAppState()
  // As it was when the dialog opened: only members that were changed here are sent.
  const [before] = useState(subscription)
  const [endpointUrl, setEndpointUrl] = useState(before.endpointUrl)
  const [hmacSecretId, setHmacSecretId] = useState(before.hmacSecretId)
  const [delivery, setDelivery] = useState<Readonly<Record<string, string>>>(() => Object.fromEntries(deliverySettings.map(([name]) => [name, String(before.delivery[name])])))
  const [eventTypes, setEventTypes] = useState(() => linesOf(before.filters["eventTypes"]))
  const [shipmentIds, setShipmentIds] = useState(() => linesOf(before.filters["shipmentIds"]))

  const act = async () => {
    const numbers = deliverySettings.filter(([name]) => delivery[name] !== String(before.delivery[name])).map(([name]) => [name, Number(delivery[name])] as const)
    const lists = ([["eventTypes", eventTypes], ["shipmentIds", shipmentIds]] as const)
      .filter(([name, lines]) => lines !== linesOf(before.filters[name]))
      .map(([name, lines]) => [name, listOf(lines).length === 0 ? null : listOf(lines)] as const)
    const change: SubscriptionChange = {
      ...endpointUrl === before.endpointUrl ? {} : { endpointUrl: endpointUrl.trim() },
      ...hmacSecretId === before.hmacSecretId ? {} : { hmacSecretId: hmacSecretId.trim() },
      ...numbers.length === 0 ? {} : { delivery: Object.fromEntries(numbers) },
      ...lists.length === 0 ? {} : { filters: Object.fromEntries(lists) }
    }
    if (Object.keys(change).length === 0) throw new Error("Nothing is changed yet.")
    await client.editSubscription(tenantId, before.subscriptionId, change)
    return "The subscription is changed."
  }

  return (
    <Dialog title={`Change ${shortName(before.subscriptionId)}?`} confirm="Change" act={act} close={close}>
      <p>The endpoint must be an allowed address, and the secret one that the client may use. Deliveries in progress keep the previous settings.</p>
      <TextField label="Endpoint" value={endpointUrl} change={setEndpointUrl} required maxLength={2048} />
      <TextField label="Secret" value={hmacSecretId} change={setHmacSecretId} required />
      <div class="fields">
        {deliverySettings.map(([name, text]) => (
          <NumberField key={name} label={text} value={delivery[name]!} change={(value) => setDelivery({ ...delivery, [name]: value })} />
        ))}
      </div>
      {before.area === "transit-events" && (
        <>
          <Lines label="Only these event types" value={eventTypes} change={setEventTypes} />
          <Lines label="Only these shipments" value={shipmentIds} change={setShipmentIds} />
        </>
      )}
    </Dialog>
  )
}

const Lines = ({ change, label, value }: { readonly label: string; readonly value: string; readonly change: (value: string) => void }) => {
  const id = useId()
  return (
    <>
      <label for={id}>{label}, one in each line <small>(empty: all)</small></label>
      <textarea id={id} rows={2} value={value} spellcheck={false} onInput={(event) => change(event.currentTarget.value)} />
    </>
  )
}
