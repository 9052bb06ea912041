/** HTTP handlers of area C over core's use cases. */
import { Pickups, withIntegers } from "@waybill/core/pickups"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { json } from "../shared/Answer.ts"
import type { HandlersOf } from "../shared/Contract.ts"
import type { PickupsContract } from "./PickupsContract.ts"

export const PickupsHandlers = Effect.map(Pickups, (pickups): HandlersOf<typeof PickupsContract> => ({
  createPickup: ({ body, headers, principal }) => {
    const idempotencyKey = headers["Idempotency-Key"]
    return Effect.map(pickups.create(principal, body, idempotencyKey === undefined ? {} : { idempotencyKey }), json)
  },
  getPickup: ({ headers, principal, query }) =>
    Effect.map(pickups.visibility(principal, query), (found) => json(headers["X-Waybill-Integers"] === "false" ? found : withIntegers(found))),
  updatePickup: ({ body, params, principal }) => Effect.map(pickups.update(principal, params.pickupId, body), json),
  deletePickup: ({ params, principal }) => Effect.as(pickups.cancel(principal, params.pickupId), HttpServerResponse.empty({ status: 200 }))
}))
