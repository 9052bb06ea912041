/** Faulty changes to the engine and the store. The simulation has to detect each of them. */
import { accessMutants } from "./AccessMutants.ts"
import { type Mutant, mutant } from "./Mutant.ts"
import { ownershipMutants } from "./OwnershipMutants.ts"
import { storeMutants } from "./StoreMutants.ts"

const destination = "core/src/delivery/worker/Destination.ts"
const taking = "core/src/delivery/worker/Taking.ts"
const choosing = "core/src/delivery/worker/Choosing.ts"
const sending = "core/src/delivery/worker/Sending.ts"
const settling = "core/src/delivery/worker/Settling.ts"
const work = "core/src/delivery/worker/WorkSet.ts"
const outcomes = "core/src/delivery/worker/OutcomeBuffer.ts"
const attempts = "core/src/delivery/worker/Attempts.ts"
const time = "core/src/shared/MonotonicTime.ts"
const retry = "core/src/delivery/model/RetryDecision.ts"
const rate = "core/src/delivery/model/RateLimit.ts"
const breaker = "core/src/delivery/model/Breaker.ts"
const signature = "core/src/delivery/model/Signature.ts"

const engineMutants: ReadonlyArray<Mutant> = [
  // the worker's state of a destination
  mutant(destination, "skipped entries are not taken when a delivery ends",
    "  destination.blocked = false\n  destination.behind = true", "  destination.blocked = false"),
  mutant(destination, "a take does not report that it skipped entries",
    "  else destination.blocked = found.blocked ||", "  else destination.blocked = false &&"),
  mutant(destination, "a delivery that ends during a take does not unblock its shipments",
    "if (found.blocked && destination.settledAt > since) destination.behind = true\n", "if (false) destination.behind = true\n"),
  mutant(destination, "a signal that arrives during a take is lost",
    "const isOutdated = destination.signalledAt > since", "const isOutdated = false"),
  mutant(destination, "a paused destination is never taken from again",
    "    destination.stale = true\n    destination.sends = true\n", "    destination.stale = true\n"),
  mutant(taking, "a change is not loaded",
    "if (destination.settings?.version !== found.version) destination.stale = true", ""),
  mutant(work, "what waits at a takeover is lost",
    "for (const destinationId of destinationIds) {", "for (const destinationId of new Set<string>()) {"),
  mutant(destination, "a retry is not scheduled",
    "  if (waiting !== undefined) insertWaiting(destination, { ...waiting, since: at, leftOut: false })\n", ""),
  mutant(destination, "a retry that a take leaves out is forgotten",
    "    for (const each of leftOut) insertWaiting(destination, { ...each, dueAt: now + leftOutMillis, leftOut: true })\n", ""),
  mutant(destination, "a retry that another one held back is not loaded",
    "if (flown?.first === false && destination.settings?.holdsBack === true) destination.waitingUntil = -Infinity", ""),
  mutant(settling, "outcomes of a destination that another transaction has locked count as written",
    "kept.has(partition) && !locked.has(destinationId)", "kept.has(partition)"),
  mutant(settling, "a retry is sent at once",
    "dueAt: Math.ceil(now + outcome.dueInMillis)", "dueAt: Math.ceil(now)"),
  // takes
  mutant(taking, "a worker takes without waiting for the outcome of its last take",
    "        tenant.lostFlights.add(request.flight)\n", ""),
  mutant(taking, "a signal that a take consumed is not kept",
    "        signalled(destination, key, work.nextEvent())\n", ""),
  mutant(destination, "keys in flight are not named",
    "if (first && (again.length > 0 || after === undefined || compareText(lastKey, after) > 0)) inFlight.push(deliveryId)", ""),
  mutant(choosing, "two takes of a tenant take from the same destination",
    "tenant.guess === undefined || tenant.guess.has(destination.destinationId)", "true"),
  mutant(taking, "a take does not name the areas of its destinations",
    "new Set(asked.flatMap(({ destination }) => destination.settings?.source ?? []))", "[]"),
  mutant(taking, "a take takes unrequested deliveries from busy destinations",
    "else if (!named.has(destination)) skip.push(destination.destinationId)", ""),
  mutant(taking, "slots that a take did not use start no other take",
    "if (unused.length > 0) work.makeRoom()", ""),
  mutant(taking, "a take that is requested during another one is lost",
    "mayTakeSignals(tenant) || goesOn || hasDrops(tenant) || work.demand.has(tenant)) work.want(tenant)", "mayTakeSignals(tenant) || goesOn) work.want(tenant)"),
  mutant(taking, "a worker takes without end while another take hears signals",
    "mayTakeSignals(tenant) || goesOn", "tenant.signalled || goesOn"),
  mutant(sending, "a delivery whose body is missing is sent",
    "!loaded && destination.stale", "false"),
  // counting attempts
  mutant(retry, "a delivery has one attempt more than its policy allows",
    "if (attempt >= policy.maxAttempts)", "if (attempt > policy.maxAttempts)"),
  mutant(retry, "a delivery that crashes its senders never becomes a dead letter",
    "const spareTakeovers = 3", "const spareTakeovers = 300"),
  mutant(retry, "Retry-After is ignored",
    "Math.min(Math.max(own, asked), policy.maxBackoffSeconds)", "own"),
  mutant(retry, "the backoff does not grow",
    "2 ** Math.min(attempt - 1, 40)", "1"),
  // bytes and signatures
  mutant(attempts, "a retry gets a new webhook-id",
    "{ deliveryId: taken.deliveryId, timestampSeconds", "{ deliveryId: taken.attempt > 1 ? taken.deliveryId.replace(/.$/, \"f\") : taken.deliveryId, timestampSeconds"),
  mutant(attempts, "a retry has a new sentAt",
    "wrap(destination.envelope, taken.deliveryId, taken.sentAt, taken.body)", "wrap(destination.envelope, taken.deliveryId, taken.sentAt + taken.attempt - 1, taken.body)"),
  mutant(signature, "only the newest secret signs",
    "return keys.map((key) => `v1", "return keys.slice(0, 1).map((key) => `v1"),
  // outcomes
  mutant(settling, "outcomes that could not be written are lost",
    "Effect.onError(() => Effect.sync(() => this.putBack(own)))", "Effect.onError(() => Effect.void)"),
  mutant(settling, "a flight is removed before all its deliveries have outcomes",
    "left === count ?", "left > 0 ?"),
  mutant(settling, "flights are never removed",
    "left === count ?", "left < 0 ?"),
  mutant(outcomes, "the breaker is written before the outcome that changed it",
    "    this.ended.push(ended)\n    if (isChanged) this.changed.add(ended.destination)\n", "    if (isChanged) this.change(ended.destination)\n    this.ended.push(ended)\n"),
  mutant(attempts, "410 is ignored",
    `pause: "The receiver answered 410 Gone."`, "pause: undefined"),
  mutant(destination, "a signal discards a pause that is not written yet",
    "    destination.sends = true\n    destination.behind = true", "    destination.sends = true\n    destination.pause = undefined\n    destination.behind = true"),
  // clocks
  mutant(time, "a worker uses its own clock instead of the store's",
    "Effect.map(Clock.monotonicTimeNanos, millisOf)", "Clock.currentTimeMillis"),
  mutant(attempts, "webhook-timestamp is the worker's own time",
    "Math.floor((startedAt + storeAhead) / 1000)", "Math.floor(startedAt / 1000)"),
  // rate limit and circuit breaker
  mutant(rate, "attempts do not count for the rate",
    "Math.max(mark ?? now, now) + posts * rhythm(rateLimitPerMinute).spacing", "Math.max(mark ?? now, now)"),
  mutant(rate, "a burst is twice the rate limit",
    "const burst = Math.max(1, Math.floor(rateLimitPerMinute * burstShare))", "const burst = Math.max(1, Math.floor(rateLimitPerMinute * 2))"),
  mutant(destination, "the circuit breaker is ignored",
    "if (breakerState(breaker, now) === \"open\") return", "if (false) return"),
  mutant(breaker, "the circuit breaker never opens",
    "if (failures < breakerThreshold) return", "if (failures > 0) return")
]

export const mutants: ReadonlyArray<Mutant> = [...engineMutants, ...ownershipMutants, ...storeMutants, ...accessMutants]
