/** Storage port: transit event subscriptions. Their state and queue belong to the subscription's destination. */
import { Context, type Effect, type Option } from "effect"
import type { DestinationState } from "../delivery/DeliveryQueue.ts"
import type { StorageError } from "../shared/StoragePort.ts"
import type { EditableSubscriptionStore, StoredSubscriptionRow, SubscriptionRow } from "../subscriptions/EditableSubscriptionStore.ts"

/** A subscription with its filters. */
export interface SubscriptionRecord extends SubscriptionRow {
  /** Event types as a bit mask. */
  readonly typeMask: number
  /** `undefined`: every shipment that the client may see. */
  readonly shipmentIds: ReadonlyArray<string> | undefined
}

/** Which stored events a replay queues again. Times are milliseconds since 1970. */
export interface ReplayRequest {
  /** When Waybill stored the events: `from` inclusive, `to` exclusive. SPEC-GAP-D22 */
  readonly from: number
  readonly to: number | undefined
  readonly shipmentIds: ReadonlyArray<string> | undefined
}

/**
 * Storage port: subscriptions to events, their filters and what they matched. SPEC-GAP-D13: if a new one names shipments, `insert` queues
 * their earlier events that the client may see first. Concurrently published events are neither missed nor duplicated.
 */
export class TransitSubscriptionStore extends Context.Service<TransitSubscriptionStore, EditableSubscriptionStore<SubscriptionRecord> & {
  /** Lists the client's own subscriptions in this state, in the order of their ids. One that was removed ends with its destination, in one transaction. */
  readonly page: (
    tenantId: string,
    client: string,
    state: DestinationState,
    range: { readonly skip: number; readonly limit: number }
  ) => Effect.Effect<{ readonly rows: ReadonlyArray<StoredSubscriptionRow>; readonly totalCount: number }, StorageError>
  /** Whether the client may see the shipment now, by any of its credentials. */
  readonly clientSees: (tenantId: string, client: string, shipmentId: string) => Effect.Effect<boolean, StorageError>
  /**
   * Queues stored events again, if the subscription's filters and the client's access admit them now. Returns the number of events. May commit in steps:
   * a log can be too long for one transaction. A call that failed can be repeated, and does not queue again what still waits.
   */
  readonly replay: (tenantId: string, id: string, request: ReplayRequest) => Effect.Effect<Option.Option<number>, StorageError>
}>()("@waybill/core/transit-events/TransitSubscriptionStore") {}
