/** Which callers a call admits. */
import { Effect } from "effect"
import { NotPermitted } from "./AccessErrors.ts"
import { isCarrier, isOperator, type Principal } from "./model/Principal.ts"

export const carriersOnly = (principal: Principal): Effect.Effect<void, NotPermitted> =>
  isCarrier(principal) ? Effect.void : Effect.fail(new NotPermitted({ needed: "carrier" }))

/** Operators act for no tenant, so they have no freight of their own. */
export const carriersAndCustomers = (principal: Principal): Effect.Effect<void, NotPermitted> =>
  isOperator(principal) ? Effect.fail(new NotPermitted({ needed: "carrier or customer" })) : Effect.void
