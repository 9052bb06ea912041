/** Which pickups a caller sees. */
import { carrierOf, isCarrier, type Principal } from "../access/model/Principal.ts"
import type { PickupRow, PickupViewer } from "./PickupStore.ts"

export const viewerOf = (principal: Principal): PickupViewer => {
  if (!isCarrier(principal)) return { client: principal.client, accounts: principal.accounts }
  const carrier = carrierOf(principal)
  return carrier === undefined ? "all" : { carrier }
}

/** The first carrier with a number that writes to a pickup owns it. */
export const claimed = (principal: Principal, row: PickupRow): PickupRow => ({ ...row, carrier: row.carrier ?? carrierOf(principal) })
