/** Who may call, and which pickups a caller sees. */
import { Effect } from "effect"
import { NotPermitted } from "../access/AccessErrors.ts"
import { carrierOf, isCarrier, isOperator, type Principal } from "../access/model/Principal.ts"
import type { PickupRow, PickupViewer } from "./PickupStore.ts"

export const shippersAndCarriers = (principal: Principal) =>
  isOperator(principal) ? Effect.fail(new NotPermitted({ needed: "carrier or customer" })) : Effect.void

export const carriersOnly = (principal: Principal) =>
  isCarrier(principal) ? Effect.void : Effect.fail(new NotPermitted({ needed: "carrier" }))

export const viewerOf = (principal: Principal): PickupViewer => {
  if (!isCarrier(principal)) return { client: principal.client, accounts: principal.accounts }
  const carrier = carrierOf(principal)
  return carrier === undefined ? "all" : { carrier }
}

/** The first carrier with a number that writes to a pickup owns it. */
export const claimed = (principal: Principal, row: PickupRow): PickupRow => ({ ...row, carrier: row.carrier ?? carrierOf(principal) })
