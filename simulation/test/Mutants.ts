/** Faulty changes to the engine and the store. The simulation has to detect each of them. */
import { accessMutants } from "./AccessMutants.ts"
import type { Mutant } from "./Mutant.ts"
import { ownershipMutants } from "./OwnershipMutants.ts"
import { storeMutants } from "./StoreMutants.ts"

const destination = "core/src/delivery/worker/Destination.ts"
const taking = "core/src/delivery/worker/Taking.ts"
const sending = "core/src/delivery/worker/Sending.ts"
const settling = "core/src/delivery/worker/Settling.ts"
const work = "core/src/delivery/worker/WorkSet.ts"
const outcomes = "core/src/delivery/worker/OutcomeBuffer.ts"
const attempts = "core/src/delivery/worker/Attempts.ts"
const time = "core/src/delivery/worker/WorkerTime.ts"
const retry = "core/src/delivery/model/RetryDecision.ts"
const rate = "core/src/delivery/model/RateLimit.ts"
const breaker = "core/src/delivery/model/Breaker.ts"
const signature = "core/src/delivery/model/Signature.ts"

const engineMutants: ReadonlyArray<Mutant> = [
  // the worker's state of a destination
  {
    name: "skipped entries are not taken when a delivery ends",
    file: destination,
    find: "  destination.blocked = false\n  destination.behind = true",
    replace: "  destination.blocked = false"
  },
  {
    name: "a take does not report that it skipped entries",
    file: destination,
    find: "  else destination.blocked = found.blocked ||",
    replace: "  else destination.blocked = false &&"
  },
  {
    name: "a delivery that ends during a take does not unblock its shipments",
    rare: true,
    file: destination,
    find: "if (found.blocked && destination.settledAt > since) destination.behind = true\n",
    replace: "if (false) destination.behind = true\n"
  },
  {
    name: "a signal that arrives during a take is lost",
    rare: true,
    file: destination,
    find: "const isOutdated = destination.signalledAt > since",
    replace: "const isOutdated = false"
  },
  {
    name: "a paused destination is never taken from again",
    file: destination,
    find: "    destination.stale = true\n    destination.sends = true\n",
    replace: "    destination.stale = true\n"
  },
  {
    name: "a change is not loaded",
    file: taking,
    find: "if (destination.settings?.version !== found.version) destination.stale = true",
    replace: ""
  },
  {
    name: "a retry by an operator during a load is lost",
    rare: true,
    file: destination,
    find: "else if (loading.has(deliveryId) && loading.get(deliveryId) === undefined) destination.stale = true",
    replace: ""
  },
  {
    name: "a load restores a delivery that ended meanwhile",
    rare: true,
    file: destination,
    find: "!inFlight.has(deliveryId) && !loading.has(deliveryId))",
    replace: "!inFlight.has(deliveryId))"
  },
  {
    name: "what waits at a takeover is lost",
    file: work,
    find: "for (const destinationId of destinationIds) {",
    replace: "for (const destinationId of new Set<string>()) {"
  },
  {
    name: "a retry is not scheduled",
    file: destination,
    find: "  if (waiting !== undefined) insertWaiting(destination, waiting)\n",
    replace: ""
  },
  {
    name: "a retry is sent at once",
    file: settling,
    find: "dueAt: Math.ceil(now + outcome.dueInMillis)",
    replace: "dueAt: Math.ceil(now)"
  },
  // takes
  {
    name: "a worker takes without waiting for the outcome of its last take",
    file: taking,
    find: "        tenant.lostFlights.add(request.flight)\n",
    replace: ""
  },
  {
    name: "a signal that a take consumed is not kept",
    file: taking,
    find: "        signalled(destination, key, work.nextEvent())\n",
    replace: ""
  },
  {
    name: "remaining signals are not taken",
    rare: true,
    file: taking,
    find: "if (taken.moreSignals) tenant.signalled = true",
    replace: ""
  },
  {
    name: "keys in flight are not named",
    file: destination,
    find: "if (first && (again.length > 0 || after === undefined || compareText(lastKey, after) > 0)) inFlight.push(deliveryId)",
    replace: ""
  },
  {
    name: "two takes of a tenant take from the same destination",
    file: taking,
    find: "if (tenant.guess !== undefined && !tenant.guess.has(destination.destinationId)) continue",
    replace: ""
  },
  {
    name: "a take does not name the areas of its destinations",
    file: taking,
    find: "new Set(asked.flatMap(({ destination }) => destination.settings?.source ?? []))",
    replace: "[]"
  },
  {
    name: "a take takes unrequested deliveries from busy destinations",
    file: taking,
    find: "else if (!named.has(destination)) skip.push(destination.destinationId)",
    replace: ""
  },
  {
    name: "slots that a take did not use start no other take",
    rare: true,
    file: taking,
    find: "if (unused.length > 0) work.makeRoom()",
    replace: ""
  },
  {
    name: "a take that is requested during another one is lost",
    file: taking,
    find: "tenant.signalled && !tenant.takingSignals || goesOn || hasDrops(tenant) || work.demand.has(tenant)) work.want(tenant)",
    replace: "tenant.signalled && !tenant.takingSignals || goesOn) work.want(tenant)"
  },
  {
    name: "a worker takes without end while another take hears signals",
    file: taking,
    find: "tenant.signalled && !tenant.takingSignals || goesOn",
    replace: "tenant.signalled || goesOn"
  },
  {
    name: "a delivery whose body is missing is sent",
    rare: true,
    file: sending,
    find: "!loaded && destination.stale",
    replace: "false"
  },
  // counting attempts
  {
    name: "a delivery has one attempt more than its policy allows",
    file: retry,
    find: "if (attempt >= policy.maxAttempts)",
    replace: "if (attempt > policy.maxAttempts)"
  },
  {
    name: "a delivery that crashes its senders never becomes a dead letter",
    rare: true,
    file: retry,
    find: "const spareTakeovers = 3",
    replace: "const spareTakeovers = 300"
  },
  {
    name: "Retry-After is ignored",
    file: retry,
    find: "Math.min(Math.max(own, asked), policy.maxBackoffSeconds)",
    replace: "own"
  },
  {
    name: "the backoff does not grow",
    file: retry,
    find: "2 ** Math.min(attempt - 1, 40)",
    replace: "1"
  },
  // bytes and signatures
  {
    name: "a retry gets a new webhook-id",
    file: attempts,
    find: "  deliveryId: taken.deliveryId,\n",
    replace: "  deliveryId: taken.attempt > 1 ? taken.deliveryId.replace(/.$/, \"f\") : taken.deliveryId,\n"
  },
  {
    name: "a retry has a new sentAt",
    file: attempts,
    find: "wrap(destination.envelope, taken.deliveryId, taken.sentAt, [taken.body])",
    replace: "wrap(destination.envelope, taken.deliveryId, taken.sentAt + taken.attempt - 1, [taken.body])"
  },
  {
    name: "only the newest secret signs",
    file: signature,
    find: "return keys.map((key) => `v1",
    replace: "return keys.slice(0, 1).map((key) => `v1"
  },
  // outcomes
  {
    name: "outcomes that could not be written are lost",
    file: settling,
    find: "Effect.onError(() => Effect.sync(() => outcomes.putBack(own)))",
    replace: "Effect.onError(() => Effect.void)"
  },
  {
    name: "a flight is removed before all its deliveries have outcomes",
    file: settling,
    find: "left === count ?",
    replace: "left > 0 ?"
  },
  {
    name: "flights are never removed",
    file: settling,
    find: "left === count ?",
    replace: "left < 0 ?"
  },
  {
    name: "the breaker is written before the outcome that changed it",
    rare: true,
    file: outcomes,
    find: "    this.ended.push(ended)\n    if (isChanged) this.changed.add(ended.destination)\n",
    replace: "    if (isChanged) this.change(ended.destination)\n    this.ended.push(ended)\n"
  },
  {
    name: "410 is ignored",
    file: attempts,
    find: `pause: "The receiver answered 410 Gone."`,
    replace: "pause: undefined"
  },
  {
    name: "a pause that is requested while another one is written is lost",
    rare: true,
    file: destination,
    find: "if (pause === undefined || destination.pause !== pause) return",
    replace: "if (pause === undefined || destination.pause === undefined) return"
  },
  {
    name: "a signal discards a pause that is not written yet",
    rare: true,
    file: destination,
    find: "    destination.sends = true\n    destination.behind = true",
    replace: "    destination.sends = true\n    destination.pause = undefined\n    destination.behind = true"
  },
  {
    name: "an outcome of the old endpoint counts for the breaker of the new one",
    rare: true,
    file: sending,
    find: "const elsewhere = attempt.destination.endpointUrl !== destination.settings?.endpointUrl",
    replace: "const elsewhere = false"
  },
  // clocks
  {
    name: "a worker uses its own clock instead of the store's",
    file: time,
    find: "Effect.map(Clock.monotonicTimeNanos, millisOf)",
    replace: "Clock.currentTimeMillis"
  },
  {
    name: "webhook-timestamp is the worker's own time",
    file: attempts,
    find: "Math.floor((startedAt + storeAhead) / 1000)",
    replace: "Math.floor(startedAt / 1000)"
  },
  // rate limit and circuit breaker
  {
    name: "attempts do not count for the rate",
    file: rate,
    find: "Math.max(mark ?? now, now) + posts * rhythm(rateLimitPerMinute).spacing",
    replace: "Math.max(mark ?? now, now)"
  },
  {
    name: "a burst is twice the rate limit",
    file: rate,
    find: "const burst = Math.max(1, Math.floor(rateLimitPerMinute * burstShare))",
    replace: "const burst = Math.max(1, Math.floor(rateLimitPerMinute * 2))"
  },
  {
    name: "the circuit breaker is ignored",
    rare: true,
    file: destination,
    find: "const state = breakerState(breaker, now)",
    replace: `const state = breakerState(breaker, now) && "closed"`
  },
  {
    name: "the circuit breaker never opens",
    file: breaker,
    find: "if (failures < breakerThreshold) return",
    replace: "if (failures > 0) return"
  },
  {
    name: "more than one probe is sent after the circuit breaker was open",
    rare: true,
    file: destination,
    find: "destination.inFlight.size > 0 ? 0 : Math.min(room, 1)",
    replace: "room"
  }
]

export const mutants: ReadonlyArray<Mutant> = [...engineMutants, ...ownershipMutants, ...storeMutants, ...accessMutants]
