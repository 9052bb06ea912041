/** Area D over HTTP. */
import { Effect } from "effect"
import { httpArea } from "../shared/Area.ts"
import { mount } from "../shared/Contract.ts"
import { TransitEventsContract } from "./TransitEventsContract.ts"
import { TransitEventsHandlers } from "./TransitEventsHandlers.ts"

export const transitEventsArea = httpArea({
  key: "transitEvents",
  base: "/visibility",
  name: "Transit events",
  summary: "everything that happened, in order, and webhooks with batches of it",
  contract: TransitEventsContract,
  mounted: (base: string) => Effect.map(TransitEventsHandlers, (handlers) => mount(TransitEventsContract, base, handlers))
})
