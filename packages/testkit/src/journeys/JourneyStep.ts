/** One step of a journey, as data: its time and its calls in each area. */
import type { BillChangeReport } from "@waybill/core/freight-charges"
import type { DocumentsUpload, Invoice } from "@waybill/core/invoices"
import type { PickupReport, PickupRequest } from "@waybill/core/pickups"
import type { PostedShipment, StatusUpdate } from "@waybill/core/shipment-status"
import type { ReportedEvent } from "@waybill/core/transit-events"

/** A call: the method name and its argument. */
export type JourneyCall =
  | { readonly area: "A"; readonly call: "shipments.register"; readonly shipment: PostedShipment }
  | { readonly area: "A"; readonly call: "shipments.report"; readonly update: StatusUpdate }
  | { readonly area: "B"; readonly call: "invoices.create"; readonly invoice: Invoice }
  | { readonly area: "B"; readonly call: "documents.upload"; readonly upload: DocumentsUpload }
  | { readonly area: "C"; readonly call: "pickups.create"; readonly request: typeof PickupRequest.Encoded }
  | { readonly area: "C"; readonly call: "pickups.report"; readonly report: typeof PickupReport.Encoded }
  | { readonly area: "D"; readonly call: "events.publish"; readonly event: ReportedEvent }
  | { readonly area: "E"; readonly call: "freightCharges.publish"; readonly charge: BillChangeReport }

/** A call of a journey, and when it is made. */
export type JourneyStep = JourneyCall & {
  /** The name of the step, such as `picked up`; unique in a journey. */
  readonly name: string
  /** Hours after loading; negative for steps before it. */
  readonly afterHours: number
}
