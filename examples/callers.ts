/** Calls of carriers and shippers to a host with Waybill, shared by examples 07 to 11. */
import { DocumentsClient, IntakeClient, type ReportedShipment, ShipmentStatusClient, TransitEventsClient } from "@waybill/client"
import { fileSample, postedShipment } from "@waybill/testkit"

export interface Host {
  /** Where Waybill is mounted. */
  readonly baseUrl: string
  /** Where deliveries are received. */
  readonly hookUrl: string
  /** The host's own credentials of the carrier's system and of a shipper. */
  readonly carrier: string
  readonly shipper: string
  /** The content of the next delivery, once it arrives. */
  readonly delivered: () => Promise<string>
}

export const callers = async ({ baseUrl, carrier, delivered, hookUrl, shipper }: Host): Promise<void> => {
  const as = (bearer: string) => ({ baseUrl, bearer })
  await new TransitEventsClient(as(shipper)).createSubscription({ endpointUrl: hookUrl, hmacSecretId: "main" })

  const intake = new IntakeClient(as(carrier))
  await intake.registerShipments([postedShipment("S-1", { ProNumber: "0418367745", accounts: ["A-1"] }) as ReportedShipment])
  const place = { name: "Chicago terminal", city: "Chicago", state: "IL", country: "USA" }
  const { results } = await intake.publishTransitEvents([{
    eventId: "S-1/1",
    type: "PICKED_UP",
    occurredAt: "2026-11-20T08:15:00-06:00",
    shipment: { shipmentId: "S-1", origin: place, destination: place },
    parties: { accounts: ["A-1"] }
  }])
  console.log(`the carrier reports a pickup: ${results[0]!.result}`)

  const { shipment, view } = await new ShipmentStatusClient(as(shipper)).verified({ proNumber: "041-836774-5" })
  console.log(`the shipper looks up the status: ${shipment.ShipmentMilestoneStatus} (${view} view)`)
  console.log(`the shipper receives a signed delivery: ${await delivered()}`)

  const photo = fileSample("JPEG", 300_000)
  await new DocumentsClient(as(carrier)).upload({
    uniqueID: "DOC-1",
    shipmentID: "S-1",
    DOT: "1234567",
    MC: "MC-765432",
    invoiceNumber: "4711",
    invoiceDate: "2026-11-20",
    attributes: [{ id: 1, type: "accountNumber", value: "A-1" }],
    documents: [{ documentType: "POD", files: [photo] }]
  })
  let length = 0
  let same = true
  await new DocumentsClient(as(shipper)).download("4711", async (_file, content) => {
    for await (const piece of content) {
      same &&= piece.every((byte, at) => byte === photo[length + at])
      length += piece.length
    }
  })
  console.log(`a photo of ${photo.length} bytes is uploaded, and ${length} ${same ? "identical" : "different"} bytes are downloaded`)

  const anonymous = await fetch(`${baseUrl}/visibility/v1/events`)
  console.log(`without credentials: ${anonymous.status} ${((await anonymous.json()) as { readonly code: string }).code}`)
}

/** Connects a receiver's callback with a waiting promise. */
export const mailbox = () => {
  let put: (said: string) => void = () => {}
  const taken = new Promise<string>((resolve) => put = resolve)
  return { put, taken: () => taken }
}
