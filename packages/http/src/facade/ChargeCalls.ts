/** Methods of area E over core's use cases. */
import { FreightChargeIntake, mapPaced } from "@waybill/core"
import { ChargeSubscriptions, type PreliminaryFreightCharge } from "@waybill/core/freight-charges"
import { Effect, Stream } from "effect"
import type { WebhookTestMethods } from "./ChargeMethods.ts"
import { parsed, plain } from "./Plain.ts"
import { type Around, as, callsOf, reportOf, type Run } from "./Run.ts"
import type { WaybillWithin } from "./Waybill.ts"

export const chargesWithin = (run: Run, around: Around): Pick<WaybillWithin, "freightCharges" | "chargeSubscriptions"> => {
  const subscriptions = callsOf(run, ChargeSubscriptions, around)
  return {
    freightCharges: { publish: reportOf(run, FreightChargeIntake, around) },
    chargeSubscriptions: {
      create: (caller, subscription) => subscriptions(caller, (all, principal) => all.create(principal, plain(subscription))),
      get: (caller, id) => subscriptions(caller, (all, principal) => all.get(principal, id)),
      cancel: (caller, id) => subscriptions(caller, (all, principal) => all.cancel(principal, id)),
      inFlight: (caller, id) => run(around(Effect.flatMap(as(caller, ChargeSubscriptions, (all, principal) => all.inFlight(principal, id)), (bills) =>
        Effect.map(Stream.runCollect(Stream.mapEffect(Stream.chunks(bills), (some) => mapPaced(some, parsed<PreliminaryFreightCharge>))), (pieces) => pieces.flat()))))
    }
  }
}

/** Waits for the receiver's server, so it joins no transaction. */
export const webhookTestOf = (run: Run): WebhookTestMethods => ({
  testWebhook: (caller, test) => run(as(caller, ChargeSubscriptions, (all, principal) => all.testWebhook(principal, plain(test))))
})
