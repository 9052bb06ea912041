/** One thing that happens to freight on its way, as data: when, and what is said of it in which area. */
import type { BillChangeReport, Invoice, PickupReport, PickupRequest, PostedShipment, ReportedEvent, StatusUpdate } from "@waybill/core"

/** The call that says it, by the method's own name, and what it is given. */
export type JourneyCall =
  | { readonly area: "A"; readonly call: "shipments.register"; readonly shipment: PostedShipment }
  | { readonly area: "A"; readonly call: "shipments.report"; readonly update: StatusUpdate }
  | { readonly area: "B"; readonly call: "invoices.create"; readonly invoice: Invoice }
  | { readonly area: "B"; readonly call: "documents.upload"; readonly upload: Readonly<Record<string, unknown>> }
  | { readonly area: "C"; readonly call: "pickups.create"; readonly request: typeof PickupRequest.Encoded }
  | { readonly area: "C"; readonly call: "pickups.report"; readonly report: typeof PickupReport.Encoded }
  | { readonly area: "D"; readonly call: "events.publish"; readonly event: ReportedEvent }
  | { readonly area: "E"; readonly call: "freightCharges.publish"; readonly charge: BillChangeReport }

export type JourneyStep = JourneyCall & {
  /** What happened, such as `picked up`. No two steps of a journey have the same. */
  readonly name: string
  /** When, counted from the moment the freight is loaded; before it where negative. */
  readonly afterHours: number
}
