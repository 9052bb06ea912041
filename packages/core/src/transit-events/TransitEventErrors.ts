/** How the event log and its subscriptions can fail. */
import { Schema } from "effect"

/** Another call stored an event under the same id meanwhile; the whole call is decided again. Never leaves the service. */
export class EventIdTaken extends Schema.TaggedError<EventIdTaken>()("EventIdTaken", {}) {
  override get message(): string {
    return "Another call stored one of these eventIds at the same moment. Send the call again."
  }
}

/** Some of these shipments belong to another carrier; the call is decided again without them. Never leaves the service. */
export class ShipmentNotOwn extends Schema.TaggedError<ShipmentNotOwn>()("ShipmentNotOwn", { shipmentIds: Schema.Array(Schema.String) }) {
  override get message(): string {
    return "Some of these shipments are another carrier's. Send the call without them."
  }
}

/** The `walk` of a page address was not given out by this service, or its store was replaced since. */
export class WalkExpired extends Schema.TaggedError<WalkExpired>()("WalkExpired", {}) {
  override get message(): string {
    return "This page address is no longer valid. Start again from page 1."
  }
}

/** No subscription of this id belongs to the caller. Another client's id answers the same. */
export class SubscriptionNotFound extends Schema.TaggedError<SubscriptionNotFound>()("SubscriptionNotFound", {
  subscriptionId: Schema.String
}) {
  override get message(): string {
    return `No subscription ${this.subscriptionId}. Use an id from the list of your subscriptions.`
  }
}
