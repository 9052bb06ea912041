/** Example commands for a terminal, one for each way to read the demo's data. */
import type { ServerConfig } from "../config/ServerConfig.ts"
import { type DemoShipment, invoiceNumberOf, shipmentsOf } from "./DemoFreight.ts"
import type { DemoState } from "./DemoState.ts"

export interface DemoCommand {
  readonly shows: string
  /** One line of shell. */
  readonly command: string
}

/** Empty while there is no data. */
export const demoCommands = (state: DemoState, { basePaths }: Pick<ServerConfig, "basePaths">, url: string): ReadonlyArray<DemoCommand> => {
  const { chargeSubscriptionId, customerKey, finishedAt, startedAt } = state.saved()
  if (chargeSubscriptionId === undefined || customerKey === undefined || startedAt === undefined || finishedAt === undefined) return []
  const at = url.replace(/\/+$/, "")
  const asCustomer = (path: string) => `curl -s -H 'X-API-Key: ${customerKey}' '${at}${path}'`
  const shipments = shipmentsOf(startedAt) as [DemoShipment, ...Array<DemoShipment>]
  const [{ proNumber }] = shipments
  const { proNumber: pickedUpLast } = shipments.at(-1)!
  const shipment = `${basePaths.shipmentStatus}/shipment/pro/${proNumber}`
  const [delivered] = shipmentsOf(finishedAt) as [DemoShipment, ...Array<DemoShipment>]
  const invoiceNumber = invoiceNumberOf(delivered)
  const lookup = `lookupValue=${pickedUpLast}&lookupType=PRO&requestType=PickupStatus&isTest=false`
  return [
    { shows: `Status of PRO ${proNumber}, all fields, as its shipper:`, command: asCustomer(`${shipment}/verified`) },
    { shows: "The same status, public fields only, without a key:", command: `curl -s '${at}${shipment}/public'` },
    { shows: "The latest events of all shipments:", command: asCustomer(`${basePaths.transitEvents}/v1/events?order=desc&pageSize=3`) },
    { shows: "Status of a pickup:", command: asCustomer(`${basePaths.pickups}/v1/pickups/?${lookup}`) },
    {
      shows: "Freight charges in flight when the customer subscribed:",
      command: asCustomer(`${basePaths.freightCharges}/v1/subscriptions/${chargeSubscriptionId}/inflight`)
    },
    {
      shows: `Invoice of PRO ${delivered.proNumber}, which was delivered:`,
      command: asCustomer(`${basePaths.invoices}/invoices?invoiceNumber=${invoiceNumber}`)
    },
    { shows: "Its signed proof of delivery, a PDF in base64:", command: asCustomer(`${basePaths.invoices}/documents/${invoiceNumber}`) }
  ]
}
