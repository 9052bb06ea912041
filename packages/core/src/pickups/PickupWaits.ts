/** Calls that wait for the carrier's decision. They hold no transaction and no connection. */
import { Effect, Latch, Option } from "effect"
import type { Principal } from "../access/model/Principal.ts"
import { monotonicMillis } from "../shared/MonotonicTime.ts"
import { HostTransaction, type StorageError } from "../shared/StoragePort.ts"
import type { WaitingRequest } from "./model/Pickup.ts"
import { type PickupAnswer, pickupAnswer } from "./model/PickupAnswer.ts"
import type { PickupMail } from "./PickupMail.ts"
import { pickupIn } from "./PickupRecords.ts"
import type { PickupSignals } from "./PickupSignals.ts"
import type { PickupStore } from "./PickupStore.ts"

/** Maximum numbers of calls that wait at the same time, in this process and per client. Further ones are answered at once. SPEC-GAP-C35 */
export const maxWaitingPickups = 1_000
/** Most orders of a client that wait for a decision at the same time. SPEC-GAP-C35 */
export const maxWaitingPickupsPerClient = 100

/** A request that was stored to wait for the carrier. */
export interface Waits {
  readonly pickupId: string
  readonly waiting: Pick<WaitingRequest, "id" | "request">
}

export const makePickupWaits = (store: (typeof PickupStore)["Service"], signals: (typeof PickupSignals)["Service"], mail: PickupMail) => {
  const end = Latch.makeUnsafe(false)
  let ended = false
  const waitingOf = new Map<string, number>()
  let all = 0

  /** The answer to a request that the carrier has not decided. SPEC-GAP-C34 */
  const undecided = ({ pickupId, waiting: { request } }: Waits): PickupAnswer =>
    mail.announced(request, pickupAnswer(request, {
      pickupStatus: "Call us",
      carrierPickupNumber: null,
      carrier: { carrierName: null, scac: null, routing: null, trailerNumber: request.trailerNumber },
      messages: [`The carrier has not decided yet. Call the carrier about pickup request ${pickupId}.`]
    }), false)

  /** Counts a waiting call. Returns `undefined` when there are too many. */
  const enter = (who: string): (() => void) | undefined => {
    const own = waitingOf.get(who) ?? 0
    if (all >= maxWaitingPickups || own >= maxWaitingPickupsPerClient) return undefined
    all += 1
    waitingOf.set(who, own + 1)
    return () => {
      all -= 1
      const left = waitingOf.get(who)! - 1
      if (left === 0) waitingOf.delete(who)
      else waitingOf.set(who, left)
    }
  }

  /** The answer if the request no longer waits: its own, or "replaced" after a newer request. */
  const answered = Effect.fnUntraced(function*(tenantId: string, waits: Waits): Effect.fn.Return<PickupAnswer | undefined, StorageError> {
    const found = yield* store.findById(tenantId, "all", waits.pickupId)
    if (Option.isNone(found)) return undecided(waits)
    const { decided, waiting } = pickupIn(found.value)
    if (decided?.id === waits.waiting.id) return decided.answer
    return waiting?.id === waits.waiting.id ? undefined : undecided(waits)
  })

  const awaitAnswer = Effect.fnUntraced(function*(tenantId: string, waits: Waits, millis: number) {
    const signal = yield* signals.listen(tenantId, waits.pickupId)
    const until = (yield* monotonicMillis) + millis
    for (;;) {
      const answer = yield* answered(tenantId, waits)
      if (answer !== undefined) return answer
      const left = until - (yield* monotonicMillis)
      if (left <= 0 || ended) return undecided(waits)
      yield* Effect.timeoutOption(Effect.raceFirst(signal, end.await), left)
    }
  })

  /** Waits for the decision on a stored request. Inside a host's transaction no other process sees the request yet, so it does not wait. */
  const answer = ({ client, tenantId }: Principal, waits: Waits, millis: number): Effect.Effect<PickupAnswer, StorageError> =>
    Effect.flatMap(HostTransaction, (host) => {
      if (host !== undefined) return Effect.succeed(undecided(waits))
      return Effect.acquireUseRelease(
        Effect.sync(() => enter(JSON.stringify([tenantId, client]))),
        (leave) => leave === undefined ? Effect.succeed(undecided(waits)) : Effect.scoped(awaitAnswer(tenantId, waits, millis)),
        (leave) => Effect.sync(() => leave?.())
      )
    })

  const endAll = Effect.sync(() => {
    ended = true
    end.openUnsafe()
  })

  return { answer, endAll }
}
