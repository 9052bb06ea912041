/** Pickups of a tenant in the operator API. */
import type { PickupStatus } from "../pickups/PickupVisibility.ts"
import type { OpenList } from "../shared/OpenList.ts"
import type { PageQuery } from "../connection/CursorPages.ts"

/** Which pickups of a tenant to list. */
export interface OperatorPickupQuery extends PageQuery {
  /** `waiting`: only those that wait for the carrier's decision, oldest order first. The server's default is `all`, latest order first. */
  readonly state?: "waiting" | "all" | undefined
}

/** A pickup as operators see it. */
export interface OperatorPickup {
  readonly pickupId: string
  /** The carrierPickupNumber; `null` until there is one. */
  readonly confirmationNumber: string | null
  readonly status: OpenList<PickupStatus>
  /** The client that ordered it: `key:<name>` or `jwt:<issuer>:<sub>`. */
  readonly client: string
  readonly isTest: boolean
  readonly orderedAt: string
  /** The request that waits for the carrier's decision; `null` if none does. */
  readonly waitingFor: OpenList<"order" | "change"> | null
  readonly waitingSince: string | null
  readonly carrier: { readonly carrierName: string | null; readonly scac: string | null }
  /** As the shipper wrote it, in local time of the place. The window of the requested change, if one waits. */
  readonly readyWindow: {
    readonly readyDate: string | null
    readonly readyTime: string | null
    readonly closeTime: string | null
    readonly timeZone: string | null
  }
  /** The first pickup address. */
  readonly origin: { readonly name: string; readonly city: string; readonly state: string; readonly zip: string }
}
