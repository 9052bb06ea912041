/** Errors of the event log and its subscriptions. */
import { Schema } from "effect"
import { taggedFailure } from "../shared/TaggedFailure.ts"

/** A concurrent call stored an event with the same id. The whole call is retried. Internal to the service. */
export class EventIdTaken extends taggedFailure<EventIdTaken>()("EventIdTaken", {}, () =>
  "Another call stored one of these eventIds at the same moment. Send the call again.") {}

/** Some of these shipments belong to another carrier. The call is retried without them. Internal to the service. */
export class ShipmentNotOwn extends taggedFailure<ShipmentNotOwn>()("ShipmentNotOwn", { shipmentIds: Schema.Array(Schema.String) }, () =>
  "Some of these shipments are another carrier's. Send the call without them.") {}

/** The page cursor (`cursor`) was not issued by this service, or its store was replaced since. */
export class CursorExpired extends taggedFailure<CursorExpired>()("CursorExpired", {}, () =>
  "This page address is no longer valid. Start again from page 1.") {}

/** The caller has no subscription with this id. An id of another client gives the same error. */
export class SubscriptionNotFound extends taggedFailure<SubscriptionNotFound>()("SubscriptionNotFound", {
  subscriptionId: Schema.String
}, ({ subscriptionId }) => `No subscription ${subscriptionId}. Use an id from the list of your subscriptions.`) {}
