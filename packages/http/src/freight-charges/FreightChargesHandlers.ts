/** HTTP handlers of area E over core's use cases. */
import { ChargeSubscriptions, inFlightBytesAtATime } from "@waybill/core/freight-charges"
import { Effect } from "effect"
import { encodedStream, json, noContent } from "../shared/Answer.ts"
import type { HandlersOf } from "../shared/Contract.ts"
import type { FreightChargesContract } from "./FreightChargesContract.ts"

export const FreightChargesHandlers = Effect.map(ChargeSubscriptions, (subscriptions): HandlersOf<typeof FreightChargesContract> => ({
  createChargeSubscription: ({ body, principal }) => Effect.map(subscriptions.create(principal, body), (created) => json(created, { status: 201 })),
  getChargeSubscription: ({ params, principal }) => Effect.map(subscriptions.get(principal, params.subscriptionId), json),
  cancelChargeSubscription: ({ params, principal }) => Effect.as(subscriptions.cancel(principal, params.subscriptionId), noContent),
  listInFlight: ({ params, principal }) => Effect.map(subscriptions.inFlight(principal, params.subscriptionId), (bills) => encodedStream(bills, inFlightBytesAtATime)),
  testWebhook: ({ body, principal }) => Effect.map(subscriptions.testWebhook(principal, body), json)
}))
