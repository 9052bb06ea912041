/** Changes the settings of a subscription for its client. For operators. */
import { Context, Effect, Layer } from "effect"
import type { DeliveringArea } from "../Areas.ts"
import { DestinationNotFound } from "../delivery/DeliveryErrors.ts"
import { PickupSubscriptions } from "../pickups/PickupSubscriptions.ts"
import { fault } from "../shared/Fault.ts"
import { InvalidInput } from "../shared/InvalidInput.ts"
import type { StorageError } from "../shared/StoragePort.ts"
import type { SubscriptionEdit } from "../transit-events/model/TransitSubscription.ts"
import { TransitSubscriptions } from "../transit-events/TransitSubscriptions.ts"
import { Subscriptions, type SubscriptionView } from "./Subscriptions.ts"

/** Changes a customer's subscription for an operator. */
export class SubscriptionEdits extends Context.Service<SubscriptionEdits, {
  /**
   * JSON merge patch (RFC 7396) of endpoint, secret, delivery and, for transit events, filters, by the rules of the area's own patch: the secret is one that
   * the subscription's client may use. Areas whose interface cannot change a subscription refuse it.
   */
  readonly edit: (
    tenantId: string,
    subscriptionId: string,
    patch: typeof SubscriptionEdit.Encoded
  ) => Effect.Effect<SubscriptionView, DestinationNotFound | InvalidInput | StorageError>
}>()("@waybill/core/operator/SubscriptionEdits") {
  static readonly layer = Layer.effect(SubscriptionEdits, Effect.gen(function*() {
    const subscriptions = yield* Subscriptions
    const transit = yield* TransitSubscriptions
    const pickups = yield* PickupSubscriptions

    const editors: { readonly [Area in DeliveringArea]?: Edit } = {
      // it may be deleted after its area was read
      "transit-events": (tenantId, client, id, patch) =>
        transit.edit(tenantId, client, id, patch).pipe(Effect.catchTag("SubscriptionNotFound", () => Effect.fail(new DestinationNotFound({ destinationId: id })))),
      "pickups": pickups.edit
    }

    const edit = Effect.fn("SubscriptionEdits.edit")(function*(tenantId: string, subscriptionId: string, patch: Patch) {
      const { area, client } = yield* subscriptions.get(tenantId, subscriptionId)
      const editor = editors[area as DeliveringArea]
      if (area === "notices") return yield* InvalidInput.of(fault([], "The address for notices is set by its client, with PUT /portal/v1/contact. Create a portal link to set it for the client.", "not_allowed"))
      if (editor === undefined) return yield* InvalidInput.of(fault([], unchangeable(area), "not_allowed"))
      yield* editor(tenantId, client, subscriptionId, patch)
      return yield* subscriptions.get(tenantId, subscriptionId)
    })

    return SubscriptionEdits.of({ edit })
  }))
}

type Patch = typeof SubscriptionEdit.Encoded
type Edit = (tenantId: string, client: string, id: string, patch: Patch) => Effect.Effect<unknown, DestinationNotFound | InvalidInput | StorageError>

const unchangeable = (area: string): string =>
  `A subscription of ${area} cannot be changed, also not by its client: its interface has no call for it. Let the client create another one, then delete this one.`
