/** Makes the calls of journey steps in the service in memory. */
import type { PickupReport } from "@waybill/core/pickups"
import type { HostPrincipal, Waybill } from "@waybill/http"
import type { JourneyCall } from "./JourneyStep.ts"

/** The parts of the service that steps call. */
export type CalledService = Pick<Waybill, "shipments" | "events" | "freightCharges" | "pickups" | "invoices" | "documents">

/** Pickup numbers from the service, kept until the truck has left. */
export class PickupNumbers {
  readonly #numbers = new Map<string, string>()

  ordered(shipmentId: string, answers: ReadonlyArray<{ readonly carrierPickupNumber: string | null }>): void {
    const number = answers[0]?.carrierPickupNumber
    if (typeof number === "string") this.#numbers.set(shipmentId, number)
  }

  of(shipmentId: string, { status }: typeof PickupReport.Encoded): string {
    const number = this.#numbers.get(shipmentId)
    if (number === undefined) throw new Error(`Nobody has ordered a truck for ${shipmentId}, or the carrier did not accept it.`)
    if (status?.startsWith("Departed") === true) this.#numbers.delete(shipmentId)
    return number
  }
}

/** The pickup number of a report comes from the service's answer to the order. */
export const makeCall = async (service: CalledService, by: HostPrincipal, shipmentId: string, call: JourneyCall, numbers: PickupNumbers): Promise<void> => {
  switch (call.call) {
    case "shipments.register":
      return void await service.shipments.register(by, [call.shipment])
    case "shipments.report":
      return void await service.shipments.report(by, [call.update])
    case "events.publish":
      return void await service.events.publish(by, [call.event])
    case "freightCharges.publish":
      return void await service.freightCharges.publish(by, [call.charge])
    case "invoices.create":
      return void await service.invoices.create(by, call.invoice)
    case "documents.upload":
      return void await service.documents.upload(by, call.upload)
    case "pickups.create":
      return numbers.ordered(shipmentId, await service.pickups.create(by, call.request))
    case "pickups.report":
      return void await service.pickups.report(by, numbers.of(shipmentId, call.report), call.report)
  }
}
