/** HTTP handlers of area C over core's use cases. */
import { fault, InvalidInput } from "@waybill/core"
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
    Effect.flatMap(wantsIntegers(headers["X-Waybill-Integers"]), (integers) =>
      Effect.map(pickups.visibility(principal, query), (found) => json(integers ? withIntegers(found) : found))),
  updatePickup: ({ body, params, principal }) => Effect.map(pickups.update(principal, params.pickupId, body), json),
  deletePickup: ({ params, principal }) => Effect.as(pickups.cancel(principal, params.pickupId), HttpServerResponse.empty({ status: 200 }))
}))

/** In any case: a caller whose `False` were not read would lose leading zeros. */
const wantsIntegers = (given = "true"): Effect.Effect<boolean, InvalidInput> =>
  /^(?:true|false)$/iu.test(given)
    ? Effect.succeed(given.toLowerCase() === "true")
    : Effect.fail(InvalidInput.of(fault(["X-Waybill-Integers"], "X-Waybill-Integers is true or false.")))
