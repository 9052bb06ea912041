/** Resumes a subscription's destination. */
import { Effect } from "effect"
import { DeliveryControl, type EndedPauses } from "../delivery/DeliveryControl.ts"
import { DeliveryQueue } from "../delivery/DeliveryQueue.ts"
import { SigningSecrets } from "../delivery/secrets/SigningSecrets.ts"
import { Wakeups } from "../delivery/Wakeups.ts"
import { Transaction } from "../shared/StoragePort.ts"

/** The dead letter and the pause are written together, but their clock readings may differ. */
const recoverMarginMillis = 1000

interface Resumed {
  readonly destinationId: string
  readonly client: string
  /** The secret that its client has to own still, if any. */
  readonly secretId: string | undefined
  /** Since when dead letters pause it, if they do: deliveries that failed since then are sent first, under their own ids. SPEC-GAP-E19 */
  readonly pausedSince: number | undefined
}

/** Returns whether it was paused, by one of these pauses. */
export const makeResumeDestination = Effect.gen(function*() {
  const queue = yield* DeliveryQueue
  const control = yield* DeliveryControl
  const secrets = yield* SigningSecrets
  const transaction = yield* Transaction
  const wakeups = yield* Wakeups

  return Effect.fnUntraced(function*(tenantId: string, { client, destinationId, pausedSince, secretId }: Resumed, pauses: EndedPauses) {
    const resumed = yield* transaction.run(Effect.gen(function*() {
      if (secretId !== undefined) yield* secrets.checkUse(tenantId, secretId, client)
      // another pause may have been set since it was read
      if ((yield* control.resume(tenantId, destinationId, pauses)) !== "changed") return false
      if (pausedSince !== undefined) yield* queue.recover(tenantId, destinationId, pausedSince - recoverMarginMillis)
      return true
    }))
    if (resumed) yield* wakeups.wake(tenantId)
    return resumed
  })
})
