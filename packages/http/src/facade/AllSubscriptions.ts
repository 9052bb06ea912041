/** Methods for subscriptions of every client and area. */
import { Explanations, SubscriptionEdits, Subscriptions } from "@waybill/core"
import type { Effect } from "effect"
import type { ServiceFailure } from "../shared/ProblemOf.ts"
import { ofTenant } from "./Methods.ts"
import type { AllSubscriptionsMethods } from "./OperatorMethods.ts"
import { plain } from "./Plain.ts"
import type { Run } from "./Run.ts"

export const allSubscriptionsOf = (run: Run): AllSubscriptionsMethods => {
  const subscriptions = <A, E extends ServiceFailure>(tenantId: string, call: (all: Subscriptions["Service"]) => Effect.Effect<A, E>) =>
    run(ofTenant(tenantId, Subscriptions, call))

  return {
    list: (tenantId, query = {}) => subscriptions(tenantId, (all) => all.list(tenantId, plain(query))),
    get: (tenantId, id) => subscriptions(tenantId, (all) => all.get(tenantId, id)),
    edit: (tenantId, id, change) => run(ofTenant(tenantId, SubscriptionEdits, (all) => all.edit(tenantId, id, plain(change)))),
    pause: (tenantId, id, reason) => subscriptions(tenantId, (all) => all.pause(tenantId, id, { reason })),
    resume: (tenantId, id) => subscriptions(tenantId, (all) => all.resume(tenantId, id)),
    purge: (tenantId, id) => subscriptions(tenantId, (all) => all.purge(tenantId, id)),
    purgeMatching: (tenantId, filter) => subscriptions(tenantId, (all) => all.purgeMatching(tenantId, plain(filter))),
    explain: (tenantId, id, subject) => run(ofTenant(tenantId, Explanations, (all) => all.explain(tenantId, { subscriptionId: id, ...subject }))),
    remove: (tenantId, id) => subscriptions(tenantId, (all) => all.remove(tenantId, id))
  }
}
