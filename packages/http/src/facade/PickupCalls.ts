/** Methods of area C over core's use cases. */
import { decodeInput, mapPaced } from "@waybill/core"
import { type PickupChangeEntry, type PickupOptions, Pickups, PickupSubscriptions, withNulls } from "@waybill/core/pickups"
import { Effect, Schema } from "effect"
import type { PickupReadMethods } from "./PickupMethods.ts"
import { parsed, plain } from "./Plain.ts"
import { type Around, as, callsOf, type Run } from "./Run.ts"
import type { WaybillWithin } from "./Waybill.ts"

export const pickupsWithin = (run: Run, around: Around): Pick<WaybillWithin, "pickups" | "pickupSubscriptions"> => {
  const pickups = callsOf(run, Pickups, around)
  const subscriptions = callsOf(run, PickupSubscriptions, around)
  return {
    pickups: {
      create: (caller, request, options = {}) =>
        pickups(caller, (all, principal) => Effect.flatMap(decodeOptions(plain(options), ["options"]), (decoded) =>
          all.create(principal, withNulls(plain(request)), decoded as PickupOptions))),
      update: (caller, number, request) => pickups(caller, (all, principal) => all.update(principal, number, withNulls(plain(request), number))),
      cancel: (caller, number) => pickups(caller, (all, principal) => all.cancel(principal, number)),
      report: (caller, pickupId, report) => pickups(caller, (all, principal) => all.report(principal, pickupId, plain(report))),
      decide: (caller, pickupId, decision) => pickups(caller, (all, principal) => all.decide(principal, pickupId, plain(decision)))
    },
    pickupSubscriptions: {
      create: (caller, subscription) => subscriptions(caller, (all, principal) => all.create(principal, plain(subscription))),
      list: (caller, query = {}) => subscriptions(caller, (all, principal) => all.list(principal, plain(query))),
      get: (caller, id) => subscriptions(caller, (all, principal) => all.get(principal, id)),
      patch: (caller, id, patch) => subscriptions(caller, (all, principal) => all.patch(principal, id, plain(patch))),
      remove: (caller, id) => subscriptions(caller, (all, principal) => all.remove(principal, id))
    }
  }
}

/** A misspelt key would order a second truck. Its value is checked where it is used. */
const decodeOptions = decodeInput(Schema.Struct({ idempotencyKey: Schema.optionalKey(Schema.Unknown) }), { closed: true })

export const pickupReadsOf = (run: Run): PickupReadMethods => ({
  visibility: (caller, query) => run(as(caller, Pickups, (all, principal) => all.visibility(principal, plain(query)))),
  changes: (caller, query = {}) =>
    run(Effect.flatMap(as(caller, Pickups, (all, principal) => all.changes(principal, plain(query))), ({ data, nextCursor }) =>
      Effect.map(mapPaced(data, parsed<PickupChangeEntry>), (entries) => ({ data: entries, nextCursor })))),
  record: (caller, pickupId) => run(as(caller, Pickups, (all, principal) => all.record(principal, pickupId)))
})
