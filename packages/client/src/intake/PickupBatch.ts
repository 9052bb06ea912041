/** Body of a delivery to a carrier's subscription to pickups. */
import { BodyMalformed, checksOf } from "../shared/ReceivedJson.ts"
import type { PickupChange } from "./ReportedPickup.ts"

/** The body of one delivery of entries of the work list. */
export interface PickupBatch {
  /** The same for every attempt of this delivery. */
  readonly deliveryId: string
  /** When the batch was first sent. */
  readonly sentAt: string
  /** At least one, those of one pickup in order. */
  readonly pickups: ReadonlyArray<PickupChange>
}

/** The body is not a batch of pickups. `pointer` is the location of the error. */
export class PickupBatchMalformed extends BodyMalformed {
  override readonly name = "PickupBatchMalformed"
}

const { nonEmptyList, object, text } = checksOf(PickupBatchMalformed)

/**
 * Checks the parsed body of a delivery: only what a receiver relies on, which is ids, times, what changed, and the
 * request. Everything else passes unchanged, unknown fields and values included.
 */
export const checkPickupBatch = (body: unknown): PickupBatch => {
  const batch = object("", body)
  text("/deliveryId", batch["deliveryId"])
  text("/sentAt", batch["sentAt"])
  nonEmptyList("/pickups", batch["pickups"], "pickup").forEach((value, index) => {
    const pointer = `/pickups/${index}`
    const entry = object(pointer, value)
    for (const name of ["at", "change", "pickupId"]) text(`${pointer}/${name}`, entry[name])
    object(`${pointer}/request`, entry["request"])
  })
  return batch as unknown as PickupBatch
}
