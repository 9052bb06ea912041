/** Methods of area D over core's use cases. */
import { mapPaced, TransitEventIntake } from "@waybill/core"
import { type TransitEvent, TransitEvents, TransitSubscriptions } from "@waybill/core/transit-events"
import { Effect } from "effect"
import type { EventReadMethods } from "./EventMethods.ts"
import { parsed, plain } from "./Plain.ts"
import { type Around, as, callsOf, reportOf, type Run } from "./Run.ts"
import type { WaybillWithin } from "./Waybill.ts"

export const eventsWithin = (run: Run, around: Around): Pick<WaybillWithin, "events" | "subscriptions"> => {
  const subscriptions = callsOf(run, TransitSubscriptions, around)
  return {
    events: { publish: reportOf(run, TransitEventIntake, around) },
    subscriptions: {
      create: (caller, subscription) => subscriptions(caller, (all, principal) => all.create(principal, plain(subscription))),
      list: (caller, query = {}) => subscriptions(caller, (all, principal) => all.list(principal, plain(query))),
      get: (caller, id) => subscriptions(caller, (all, principal) => all.get(principal, id)),
      patch: (caller, id, patch) => subscriptions(caller, (all, principal) => all.patch(principal, id, plain(patch))),
      remove: (caller, id) => subscriptions(caller, (all, principal) => all.remove(principal, id))
    }
  }
}

export const eventReadsOf = (run: Run): EventReadMethods => ({
  list: (caller, query = {}) =>
    run(Effect.flatMap(as(caller, TransitEvents, (all, principal) => all.list(principal, plain(query))), (page) =>
      Effect.map(mapPaced(page.data, parsed<TransitEvent>), (data) => ({ ...page, data }))))
})
