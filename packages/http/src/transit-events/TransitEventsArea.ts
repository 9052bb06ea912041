/** Area D over HTTP. */
import { httpArea } from "../shared/Area.ts"
import { TransitEventsContract } from "./TransitEventsContract.ts"
import { TransitEventsHandlers } from "./TransitEventsHandlers.ts"

export const transitEventsArea = httpArea({
  key: "transitEvents",
  base: "/visibility",
  name: "Transit events",
  summary: "everything that happened, in order, and webhooks with batches of it",
  contract: TransitEventsContract,
  handlers: TransitEventsHandlers
})
