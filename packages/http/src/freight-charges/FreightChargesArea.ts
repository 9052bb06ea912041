/** Area E over HTTP. */
import { httpArea } from "../shared/Area.ts"
import { FreightChargesContract } from "./FreightChargesContract.ts"
import { FreightChargesHandlers } from "./FreightChargesHandlers.ts"

export const freightChargesArea = httpArea({
  key: "freightCharges",
  base: "/pfc",
  name: "Freight charges",
  summary: "what shipments will cost, as their bills are made, changed and final",
  contract: FreightChargesContract,
  handlers: FreightChargesHandlers
})
