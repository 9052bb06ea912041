/** Area E over HTTP. */
import { Effect } from "effect"
import { httpArea } from "../shared/Area.ts"
import { mount } from "../shared/Contract.ts"
import { FreightChargesContract } from "./FreightChargesContract.ts"
import { FreightChargesHandlers } from "./FreightChargesHandlers.ts"

export const freightChargesArea = httpArea({
  key: "freightCharges",
  base: "/pfc",
  name: "Freight charges",
  summary: "what shipments will cost, as their bills are made, changed and final",
  contract: FreightChargesContract,
  mounted: (base: string) => Effect.map(FreightChargesHandlers, (handlers) => mount(FreightChargesContract, base, handlers))
})
