/** Decides for the carrier on a pickup that waits. */
import type { PickupDecision } from "@waybill/client/intake"
import type { OperatorPickup } from "@waybill/client/operator"
import { useState } from "preact/hooks"
import { Dialog } from "../parts/Dialog.tsx"
import { TextField } from "../parts/Fields.tsx"
import { ShownList } from "../parts/Shown.tsx"
import { useAppState } from "../session/Context.ts"
import { textIn } from "../session/Server.ts"

export type Decision = PickupDecision["decision"]

/** As the list shows it: its confirmation number, or the end of its id while it has none. */
export const pickupName = ({ confirmationNumber, pickupId }: OperatorPickup): string => confirmationNumber ?? `…${pickupId.slice(-6)}`

export const decisionNames: Readonly<Record<Decision, string>> = { accept: "Accept", reject: "Reject", call: "Ask to call" }

const explanations: Readonly<Record<Decision, string>> = {
  accept: "The shipper's request is accepted: a truck is promised. Without a confirmation number the service issues one, or the pickup keeps its own.",
  reject: "The shipper's request is refused. If a change waits, the pickup stays as it was agreed.",
  call: "The shipper is asked to call the carrier. Report the result as a status over intake."
}

const results: Readonly<Record<Decision, string>> = { accept: "is accepted", reject: "is rejected", call: "is answered: the shipper is asked to call" }

interface DecisionDialogProps {
  readonly tenantId: string
  readonly pickup: OperatorPickup
  readonly decision: Decision
  readonly close: (result?: string) => void
}

export const DecisionDialog = ({ close, decision, pickup, tenantId }: DecisionDialogProps) => {
  const { client } = useAppState()
  const { origin, pickupId, waitingFor } = pickup
  const [confirmationNumber, setNumber] = useState("")
  const [scac, setScac] = useState("")
  const [carrierName, setCarrierName] = useState("")
  const [message, setMessage] = useState("")
  const accepts = decision === "accept"
  const act = async () => {
    const fields = accepts ? { confirmationNumber, scac, carrierName, message } : { message }
    const given = Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, text.trim()]).filter(([, text]) => text !== ""))
    const { carrierPickupNumber } = await client.decidePickup(tenantId, pickupId, { ...given, decision })
    return `The ${waitingFor ?? "pickup"} ${results[decision]}.${accepts && carrierPickupNumber !== null ? ` Its confirmation number is ${textIn(carrierPickupNumber)}.` : ""}`
  }
  return (
    <Dialog title={`${decisionNames[decision]}${decision === "call" ? " about" : ""} the ${waitingFor ?? "decision"} of pickup ${pickupName(pickup)}?`} confirm={decisionNames[decision]} act={act} close={close}>
      <p><ShownList texts={[origin.name, origin.city, `${origin.state} ${origin.zip}`]} />. {explanations[decision]}</p>
      {accepts && (
        <div class="fields">
          <TextField label="Confirmation number" value={confirmationNumber} change={setNumber} />
          <TextField label="SCAC" value={scac} change={setScac} />
          <TextField label="Carrier name" value={carrierName} change={setCarrierName} />
        </div>
      )}
      <TextField label="Message for the shipper" value={message} change={setMessage} />
    </Dialog>
  )
}
