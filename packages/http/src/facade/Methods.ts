/** The host's methods of all areas. */
import { chargesWithin, webhookTestOf } from "./ChargeCalls.ts"
import { eventReadsOf, eventsWithin } from "./EventCalls.ts"
import { documentReadsOf, invoiceReadsOf, invoicesWithin } from "./InvoiceCalls.ts"
import { credentialsWithin } from "./OperatorCalls.ts"
import { pickupReadsOf, pickupsWithin } from "./PickupCalls.ts"
import type { Around, Run } from "./Run.ts"
import { lookupsOf, shipmentsWithin } from "./ShipmentCalls.ts"
import type { WaybillAreas, WaybillWithin } from "./Waybill.ts"

/** Methods that can join a transaction; `around` makes them do so. */
export const methodsWithin = (run: Run, around: Around): WaybillWithin => ({ ...areasWithin(run, around), ...credentialsWithin(run, around) })

const areasWithin = (run: Run, around: Around) => ({
  ...shipmentsWithin(run, around),
  ...invoicesWithin(run, around),
  ...pickupsWithin(run, around),
  ...eventsWithin(run, around),
  ...chargesWithin(run, around)
})

/** The methods of areas in transactions of their own, and those that join none. */
export const methodsOf = (run: Run): WaybillAreas => {
  const alone = areasWithin(run, (effect) => effect)
  return {
    ...alone,
    shipments: { ...alone.shipments, ...lookupsOf(run) },
    invoices: { ...alone.invoices, ...invoiceReadsOf(run) },
    documents: { ...alone.documents, ...documentReadsOf(run) },
    pickups: { ...alone.pickups, ...pickupReadsOf(run) },
    events: { ...alone.events, ...eventReadsOf(run) },
    chargeSubscriptions: { ...alone.chargeSubscriptions, ...webhookTestOf(run) }
  }
}
