/** HTTP handlers of area A over core's use cases. */
import type { Principal } from "@waybill/core"
import { type LookupBy, type PublicBody, ShipmentStatuses, StatusSubscriptions, type VerifiedBody } from "@waybill/core/shipment-status"
import { Effect } from "effect"
import { encoded, encodedList, json, noContent } from "../shared/Answer.ts"
import type { HandlersOf, AnonymousCaller } from "../shared/Contract.ts"
import type { ShipmentStatusContract } from "./ShipmentStatusContract.ts"

export const ShipmentStatusHandlers = Effect.gen(function*() {
  const statuses = yield* ShipmentStatuses
  const subscriptions = yield* StatusSubscriptions

  const verified = (principal: Principal, by: LookupBy) =>
    Effect.map(statuses.verified(principal, by), (found) => found._tag === "Verified" ? verifiedAnswer(found.body) : publicAnswer(found.body, 202))

  const shownToAnybody = (anonymous: AnonymousCaller, by: LookupBy) => Effect.map(statuses.public(anonymous, by, anonymous.principal), (body) => publicAnswer(body, 200))

  const handlers: HandlersOf<typeof ShipmentStatusContract> = {
    verifiedByPro: ({ params, principal }) => verified(principal, { kind: "pro", ...params }),
    verifiedByBol: ({ params, principal }) => verified(principal, { kind: "bol", ...params }),
    verifiedByPo: ({ params, principal }) => verified(principal, { kind: "po", ...params }),
    pickedUp: ({ params, principal }) =>
      Effect.map(statuses.pickedUp(principal, params), (found) => found.length === 0 ? noContent : encodedList(found.map(({ bytes }) => bytes))),
    publicByPro: ({ params, anonymous }) => shownToAnybody(anonymous, { kind: "pro", ...params }),
    publicByBol: ({ params, anonymous }) => shownToAnybody(anonymous, { kind: "bol", ...params }),
    publicByPo: ({ params, anonymous }) => shownToAnybody(anonymous, { kind: "po", ...params }),
    subscribe: ({ body, principal }) => Effect.map(subscriptions.subscribe(principal, body), json),
    unsubscribe: ({ params, principal }) => Effect.map(subscriptions.unsubscribe(principal, params.transactionId), json)
  }
  return handlers
})

// Separate types of bytes, so that verified fields cannot appear in a public response.
const verifiedAnswer = (body: VerifiedBody) => encoded(body.bytes)
const publicAnswer = (body: PublicBody, status: 200 | 202) => encoded(body.bytes, status)
