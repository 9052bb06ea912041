/** Area C over HTTP. */
import { httpArea } from "../shared/Area.ts"
import { PickupsContract } from "./PickupsContract.ts"
import { PickupsHandlers } from "./PickupsHandlers.ts"

export const pickupsArea = httpArea({
  key: "pickups",
  base: "/pickup",
  name: "Pickups",
  summary: "ask a carrier to come for freight, and see when the driver does",
  contract: PickupsContract,
  handlers: PickupsHandlers
})
