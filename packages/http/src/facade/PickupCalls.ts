/** Methods of area C over core's use cases. */
import { mapPaced, type Principal } from "@waybill/core"
import { type PickupChangeEntry, type PickupOptions, Pickups, PickupSubscriptions, withNulls } from "@waybill/core/pickups"
import { Effect } from "effect"
import type { HostPrincipal } from "../access/AuthenticatorHost.ts"
import type { ServiceFailure } from "../shared/ProblemOf.ts"
import type { PickupMethods, PickupReadMethods, PickupSubscriptionMethods } from "./PickupMethods.ts"
import { plain } from "./Plain.ts"
import { type Around, as, type Run } from "./Run.ts"

export const pickupCallsOf = (run: Run, around: Around): PickupMethods => ({
  create: (said, request, options) =>
    run(around(as(said, Pickups, (all, principal) => all.create(principal, withNulls(plain(request)), plain(options) as PickupOptions | undefined)))),
  update: (said, number, request) => run(around(as(said, Pickups, (all, principal) => all.update(principal, number, withNulls(plain(request), number))))),
  cancel: (said, number) => run(around(as(said, Pickups, (all, principal) => all.cancel(principal, number)))),
  report: (said, pickupId, report) => run(around(as(said, Pickups, (all, principal) => all.report(principal, pickupId, plain(report))))),
  decide: (said, pickupId, decision) => run(around(as(said, Pickups, (all, principal) => all.decide(principal, pickupId, plain(decision)))))
})

export const pickupSubscriptionCallsOf = (run: Run, around: Around): PickupSubscriptionMethods => {
  const call = <A, E extends ServiceFailure>(said: HostPrincipal, use: (all: PickupSubscriptions["Service"], principal: Principal) => Effect.Effect<A, E>) =>
    run(around(as(said, PickupSubscriptions, use)))
  return {
    create: (said, subscription) => call(said, (all, principal) => all.create(principal, plain(subscription))),
    list: (said, query = {}) => call(said, (all, principal) => all.list(principal, plain(query))),
    get: (said, id) => call(said, (all, principal) => all.get(principal, id)),
    patch: (said, id, patch) => call(said, (all, principal) => all.patch(principal, id, plain(patch))),
    remove: (said, id) => call(said, (all, principal) => all.remove(principal, id))
  }
}

const decoder = new TextDecoder()

export const pickupReadsOf = (run: Run): PickupReadMethods => ({
  visibility: (said, query) => run(as(said, Pickups, (all, principal) => all.visibility(principal, plain(query)))),
  changes: (said, query = {}) =>
    run(Effect.flatMap(as(said, Pickups, (all, principal) => all.changes(principal, plain(query))), ({ data, nextCursor }) =>
      Effect.map(mapPaced(data, (body): PickupChangeEntry => JSON.parse(decoder.decode(body))), (entries) => ({ data: entries, nextCursor })))),
  record: (said, pickupId) => run(as(said, Pickups, (all, principal) => all.record(principal, pickupId)))
})
