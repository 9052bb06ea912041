/** Faulty changes to the engine and the store. The simulation has to detect each of them. */
import { accessMutants } from "./AccessMutants.ts"
import type { Mutant } from "./Mutant.ts"

const queue = "testkit/src/delivery/DeliveryQueueMemory.ts"
const claims = "testkit/src/delivery/DestinationClaims.ts"
const tables = "testkit/src/delivery/DestinationTables.ts"
const events = "testkit/src/transit-events/TransitEventTables.ts"
const secrets = "testkit/src/delivery/SecretTables.ts"
const pump = "core/src/delivery/DeliveryPump.ts"
const outcomes = "core/src/delivery/UnwrittenOutcomes.ts"
const held = "core/src/delivery/HeldDestination.ts"
const attempts = "core/src/delivery/Attempts.ts"
const time = "core/src/delivery/WorkerTime.ts"
const plan = "core/src/delivery/DestinationPlan.ts"
const batch = "core/src/delivery/model/Batch.ts"
const retry = "core/src/delivery/model/RetryDecision.ts"
const rate = "core/src/delivery/model/RateLimit.ts"
const breaker = "core/src/delivery/model/Breaker.ts"
const signature = "core/src/delivery/model/Signature.ts"

export const mutants: ReadonlyArray<Mutant> = [
  // leases and fencing tokens
  {
    name: "freeze does not check the token",
    file: queue,
    find: "const destination = rows.held(tenantId, each)",
    replace: "const destination = rows.find(tenantId, each.destinationId)"
  },
  {
    name: "settle does not check the token, and a sender without lease ends a delivery",
    file: queue,
    find: "const destination = this.rows.held(tenantId, outcome)\n    const attempt",
    replace: "const destination = this.rows.find(tenantId, outcome.destinationId)\n    const attempt"
  },
  {
    name: "release does not check the token",
    file: queue,
    find: "const destination = this.rows.held(tenantId, outcome)\n    if (destination === undefined) return false",
    replace: "const destination = this.rows.find(tenantId, outcome.destinationId)\n    if (destination === undefined) return false"
  },
  {
    name: "heartbeat does not check the token",
    file: queue,
    find: "const kept = leases.flatMap((lease) => rows.held(tenantId, lease) ?? [])",
    replace: "const kept = leases.flatMap((lease) => rows.find(tenantId, lease.destinationId) ?? [])"
  },
  {
    name: "a claim returns the token of the previous lease",
    file: queue,
    find: `journal.set(destination, "token", destination.token + 1)`,
    replace: ""
  },
  {
    name: "a claim leases nothing",
    file: queue,
    find: "rows.setDue(destination, now + request.leaseMillis)\n        }",
    replace: "rows.setDue(destination, now)\n        }"
  },
  {
    name: "a released destination still counts as leased",
    file: queue,
    find: `this.journal.set(destination, "leased", false)`,
    replace: ""
  },
  {
    name: "leases are never renewed",
    file: pump,
    find: "if (pump.destinations.size > 0 && now >= pump.nextHeartbeat) yield* pump.heartbeat(now)",
    replace: ""
  },
  {
    name: "a worker sends a batch whose freeze was refused",
    file: pump,
    find: "if (!ours.has(destination.destinationId)) {",
    replace: "if (false) {"
  },
  {
    name: "a worker continues under a lease with a freeze of unknown outcome",
    file: pump,
    find: "for (const { held } of planned) held.doubtful = true",
    replace: ""
  },
  // counting attempts
  {
    name: "a retry is not counted when it is frozen",
    file: queue,
    find: `journal.set(delivery, "attempt", delivery.attempt + 1)\n      journal.set(delivery, "tries", delivery.tries + 1)`,
    replace: ""
  },
  {
    name: "an attempt that the worker's stop interrupted is counted",
    file: queue,
    find: `if (outcome.uncount) journal.set(delivery, "tries", delivery.tries - 1)`,
    replace: ""
  },
  {
    name: "a delivery has one attempt more than its policy allows",
    file: retry,
    find: "if (attempt >= policy.maxAttempts)",
    replace: "if (attempt > policy.maxAttempts)"
  },
  {
    name: "a delivery that kills its senders never dies",
    file: retry,
    find: "const spareTakeovers = 3",
    replace: "const spareTakeovers = 300"
  },
  {
    name: "a manual retry keeps the count of attempts",
    file: queue,
    find: `this.journal.set(delivery, "tries", 0)`,
    replace: ""
  },
  {
    name: "a manual retry changes a delivery in flight",
    file: queue,
    find: `if (state === "sending" || state === "cancelled") return state`,
    replace: `if (state === "cancelled") return state`
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
  // bytes and ids
  {
    name: "a retry gets a new webhook-id",
    file: attempts,
    find: "deliveryId: due.deliveryId,\n    attempt: due.attempt + 1,",
    replace: "deliveryId: due.deliveryId.replace(/.$/, \"f\"),\n    attempt: due.attempt + 1,"
  },
  {
    name: "a retry has a new sentAt",
    file: attempts,
    find: "wrap(destination.envelope, due.deliveryId, due.sentAt, due.payloads)",
    replace: "wrap(destination.envelope, due.deliveryId, due.sentAt + due.attempt, due.payloads)"
  },
  {
    name: "a retry has only the first event of its batch",
    file: claims,
    find: "payloads: each.payloads,",
    replace: "payloads: each.payloads.slice(0, 1),"
  },
  {
    name: "only the newest secret signs",
    file: signature,
    find: "return keys.map((key) => `v1",
    replace: "return keys.slice(0, 1).map((key) => `v1"
  },
  // order
  {
    name: "a shipment's next event does not wait for the one before",
    file: claims,
    find: "if (!held.has(key)) yield*",
    replace: "yield*"
  },
  {
    name: "a destination's entries are sent in reverse order",
    file: claims,
    find: "yield* destination.byKey.get(key)!",
    replace: "yield* destination.byKey.get(key)!.toReversed()"
  },
  {
    name: "a shipment is in two batches at the same time",
    file: batch,
    find: "for (const entry of current) closedKeys.add(entry.key)",
    replace: ""
  },
  {
    name: "a batch is sorted in reverse",
    file: batch,
    find: "batches.push(current.sort(byOrder))",
    replace: "batches.push(current.sort((a, b) => byOrder(b, a)))"
  },
  {
    name: "retried deliveries of one shipment are sent concurrently",
    file: claims,
    find: " && !mustWait(each, destination, true)",
    replace: ""
  },
  {
    name: "an older delivery's retry does not hold the next one",
    file: claims,
    find: "if (underWay || compareText(other.deliveryId, delivery.deliveryId) < 0) return true",
    replace: "if (underWay) return true"
  },
  // losses and duplicates
  {
    name: "frozen entries stay in the queue",
    file: queue,
    find: "for (const entry of entries) this.rows.dequeue(destination, entry)",
    replace: ""
  },
  {
    name: "a delivery whose sender died is not sent again",
    file: claims,
    find: `delivery.state === "sending" && delivery.token !== destination.token`,
    replace: "false && delivery.token !== destination.token"
  },
  {
    name: "a dead letter disappears",
    file: queue,
    find: `this.journal.drop(destination.unsettled, delivery.deliveryId)\n  }`,
    replace: `this.journal.drop(destination.unsettled, delivery.deliveryId)\n    if (delivery.state === "dead") this.journal.drop(destination.tenant.deliveries, delivery.deliveryId)\n  }`
  },
  {
    name: "a released destination with a delivery in flight is due only at its next retry",
    file: claims,
    find: `dues.push(delivery.state === "sending" ? now : delivery.dueAt!)`,
    replace: `if (delivery.state !== "sending") dues.push(delivery.dueAt!)`
  },
  {
    name: "entries that are queued under a lease are ignored at its release",
    rare: true,
    file: claims,
    find: "release.arrivals !== destination.arrivals || ",
    replace: ""
  },
  {
    name: "a shipment whose delivery ended does not make its destination due",
    file: held,
    find: "progress: destination.more || destination.settled,",
    replace: "progress: destination.more,"
  },
  {
    name: "a dead letter does not make the next events of its shipments sendable",
    file: pump,
    find: "for (const { destination } of [...finished, ...hopeless]) destination.settled = true\n    const changed",
    replace: "for (const { destination } of finished) destination.settled = true\n    const changed"
  },
  {
    name: "publishing makes no destination due",
    file: events,
    find: "if (queued > 0) this.destinations.arrive(destination, now)",
    replace: ""
  },
  {
    name: "outcomes that could not be written are forgotten",
    file: pump,
    find: "this.outcomes.putBack({ finished, hopeless })",
    replace: ""
  },
  {
    name: "an outcome whose write failed is written only with the next outcome",
    file: outcomes,
    find: "latch.openUnsafe()",
    replace: "if (latch === this.done) latch.openUnsafe()"
  },
  {
    name: "a repeated write of an old outcome undoes later changes",
    file: queue,
    find: "const current = attempt === undefined || attempt === delivery.attempt",
    replace: "const current = true"
  },
  // subscriptions
  {
    name: "a claim returns a paused destination",
    file: queue,
    find: "filter((destination) => isActive(destination) && destination.dueAt! <= now && asked(destination))",
    replace: "filter((destination) => destination.dueAt! <= now && asked(destination))"
  },
  {
    name: "new entries are found only by hints",
    file: pump,
    find: "else for (const tenantId of arrived) agenda.arrived.comeBack(tenantId)",
    replace: ""
  },
  {
    name: "due destinations are searched only among destinations with new entries",
    file: queue,
    find: `(destination.arrival !== undefined) === (request.only === "arrived")`,
    replace: "destination.arrival !== undefined"
  },
  {
    name: "a destination that was paused after its claim is frozen",
    file: queue,
    find: "isActive(destination) && gate.admits(destination, now)",
    replace: "gate.admits(destination, now)"
  },
  {
    name: "deliveries of a removed subscription are not cancelled",
    file: tables,
    find: `this.journal.set(delivery, "state", "cancelled")`,
    replace: ""
  },
  {
    name: "a closed destination still sends",
    file: tables,
    find: "this.journal.drop(destination.tenant.destinations, destination.destinationId)",
    replace: ""
  },
  {
    name: "a subscription with a new endpoint is sent to the old one",
    file: queue,
    find: `journal.set(destination, "settings", { ...settings, client, envelope`,
    replace: `journal.set(destination, "settings", { ...settings, client, endpointUrl, envelope`
  },
  {
    name: "the circuit breaker of an old endpoint applies to the new one",
    file: queue,
    find: `if (endpointUrl !== settings.endpointUrl) journal.set(destination, "breaker", closedBreaker)`,
    replace: ""
  },
  {
    name: "410 is ignored",
    file: attempts,
    find: `pause: "The receiver answered 410 Gone."`,
    replace: "pause: undefined"
  },
  {
    name: "secrets whose overlap ended still sign",
    file: secrets,
    find: "versions: stored.versions.filter(({ signsUntil }) => signsUntil === undefined || signsUntil > now)",
    replace: "versions: stored.versions.map((version) => ({ ...version, signsUntil: undefined }))"
  },
  {
    name: "a claim returns destinations of other tenants",
    file: queue,
    find: "[...rows.tenant(request.tenantId).scheduled].filter(",
    replace: "[...rows.tenants.values()].flatMap(({ scheduled }) => [...scheduled]).filter("
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
  // rate limit, circuit breaker, fairness
  {
    name: "the state of the rate limit is not stored",
    file: queue,
    find: `journal.set(destination, "rateMark", freeze.rateMark)`,
    replace: ""
  },
  {
    name: "a burst is twice the rate limit",
    file: rate,
    find: "const burst = Math.max(1, Math.floor(rateLimitPerMinute * burstShare))",
    replace: "const burst = Math.max(1, Math.floor(rateLimitPerMinute * 2))"
  },
  {
    name: "the circuit breaker is ignored",
    file: plan,
    find: "const state = breakerState(destination.breaker, now)",
    replace: `const state = breakerState(destination.breaker, now) && "closed"`
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
    file: plan,
    find: "Math.min(limits.room, 1)",
    replace: "limits.room"
  },
  {
    name: "a manual retry between claim and freeze is not detected",
    file: queue,
    find: "delivery.tries !== (freeze.againTries?.[at] ?? delivery.tries)",
    replace: "delivery.tries < 0"
  },
  {
    name: "outcomes of the old endpoint count for the new one",
    file: queue,
    find: "const replaced = outcome.endpointUrl !== undefined && outcome.endpointUrl !== destination.settings.endpointUrl",
    replace: "const replaced = false"
  },
  {
    name: "a destination always starts at its first shipment",
    file: queue,
    find: `if (freeze.cursor !== undefined) journal.set(destination, "cursor", freeze.cursor)`,
    replace: ""
  },
  ...accessMutants
]
