/** The host's pickup desk as a layer. */
import { PickupDesk, PickupDeskFailed, type PickupDispatch } from "@waybill/core/pickups"
import { Effect, Layer } from "effect"
import { insideDesk } from "./InsideDesk.ts"
import type { HostPickupDesk, WaitingPickupDesk } from "./PickupMethods.ts"

/** When the host's dispatch rejects, nothing is stored and the caller is asked to retry. */
export const pickupDeskLayer = (desk: HostPickupDesk | WaitingPickupDesk): Layer.Layer<never> => {
  if ("waitSeconds" in desk) return Layer.succeed(PickupDesk, { waitMillis: waitMillisOf(desk) })
  const { cancelled, decide } = typeof desk === "function" ? { decide: desk, cancelled: undefined } : desk
  // an interruption waits for the desk, because it uses the transaction
  const asked = <A>(call: () => Promise<A>) =>
    Effect.uninterruptible(Effect.tryPromise({ try: () => insideDesk(service, call), catch: (cause) => new PickupDeskFailed({ cause }) }))
  const service: PickupDispatch = {
    decide: (order, call) => asked(async () => decide.call(desk, order, call)),
    ...(cancelled === undefined ? {} : { cancelled: (pickup, call) => asked(async () => cancelled.call(desk, pickup, call)) })
  }
  return Layer.succeed(PickupDesk, service)
}

/** The service, or a proxy in front of it, ends calls over HTTP after some minutes. */
const maxWaitSeconds = 300

const waitMillisOf = ({ waitSeconds }: WaitingPickupDesk): number => {
  if (!(waitSeconds >= 0 && waitSeconds <= maxWaitSeconds)) throw new RangeError(`pickupDesk.waitSeconds is a number from 0 to ${maxWaitSeconds}.`)
  return waitSeconds * 1000
}
