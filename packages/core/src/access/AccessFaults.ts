/** Faults for shipments that the caller may not write to. */
import { type Fault, fault } from "../shared/Fault.ts"

/** Another carrier's shipment. The fault does not reveal who owns the shipment or what is known about it. */
export const unknownToCarrier = (path: ReadonlyArray<PropertyKey>, shipmentId: string): Fault =>
  fault(path, `No shipment ${shipmentId} that you may write to. Use another shipmentId, or ask for the shipment to be made your carrier's.`, "unknown_reference")
