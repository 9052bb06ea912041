/** Methods of area C over core's use cases. */
import { mapPaced } from "@waybill/core"
import { type PickupChangeEntry, type PickupOptions, Pickups, PickupSubscriptions, withNulls } from "@waybill/core/pickups"
import { Effect } from "effect"
import type { PickupReadMethods, WaybillPickupsWithin } from "./PickupMethods.ts"
import { parsed, plain } from "./Plain.ts"
import { type Around, as, callsOf, type Run } from "./Run.ts"

export const pickupsWithin = (run: Run, around: Around): WaybillPickupsWithin => {
  const pickups = callsOf(run, Pickups, around)
  const subscriptions = callsOf(run, PickupSubscriptions, around)
  return {
    pickups: {
      create: (said, request, options) =>
        pickups(said, (all, principal) => all.create(principal, withNulls(plain(request)), plain(options) as PickupOptions | undefined)),
      update: (said, number, request) => pickups(said, (all, principal) => all.update(principal, number, withNulls(plain(request), number))),
      cancel: (said, number) => pickups(said, (all, principal) => all.cancel(principal, number)),
      report: (said, pickupId, report) => pickups(said, (all, principal) => all.report(principal, pickupId, plain(report))),
      decide: (said, pickupId, decision) => pickups(said, (all, principal) => all.decide(principal, pickupId, plain(decision)))
    },
    pickupSubscriptions: {
      create: (said, subscription) => subscriptions(said, (all, principal) => all.create(principal, plain(subscription))),
      list: (said, query = {}) => subscriptions(said, (all, principal) => all.list(principal, plain(query))),
      get: (said, id) => subscriptions(said, (all, principal) => all.get(principal, id)),
      patch: (said, id, patch) => subscriptions(said, (all, principal) => all.patch(principal, id, plain(patch))),
      remove: (said, id) => subscriptions(said, (all, principal) => all.remove(principal, id))
    }
  }
}

export const pickupReadsOf = (run: Run): PickupReadMethods => ({
  visibility: (said, query) => run(as(said, Pickups, (all, principal) => all.visibility(principal, plain(query)))),
  changes: (said, query = {}) =>
    run(Effect.flatMap(as(said, Pickups, (all, principal) => all.changes(principal, plain(query))), ({ data, nextCursor }) =>
      Effect.map(mapPaced(data, parsed<PickupChangeEntry>), (entries) => ({ data: entries, nextCursor })))),
  record: (said, pickupId) => run(as(said, Pickups, (all, principal) => all.record(principal, pickupId)))
})
