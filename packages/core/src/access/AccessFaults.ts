/** How what a caller wrote is refused because it is not the caller's. */
import { type Fault, fault } from "../shared/Fault.ts"

/** Another carrier's shipment is unknown to a carrier with a number: nothing tells whose it is, or what is known of it. */
export const unknownToCarrier = (path: ReadonlyArray<PropertyKey>, shipmentId: string): Fault =>
  fault(path, `No shipment ${shipmentId} that you may write to. Use another shipmentId, or ask for the shipment to be made your carrier's.`, "unknown_reference")
