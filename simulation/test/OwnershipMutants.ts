/** Faulty changes to the ownership of partitions, in the engine and in the store. */
import { type Mutant, mutant } from "./Mutant.ts"

const owning = "core/src/delivery/worker/Owning.ts"
const taking = "core/src/delivery/worker/Taking.ts"
const sending = "core/src/delivery/worker/Sending.ts"
const settling = "core/src/delivery/worker/Settling.ts"
const workSet = "core/src/delivery/worker/WorkSet.ts"
const destination = "core/src/delivery/worker/Destination.ts"
const ownership = "testkit/src/delivery/OwnershipMemory.ts"
const tables = "testkit/src/delivery/DestinationTables.ts"
const take = "testkit/src/delivery/TakeMemory.ts"
const store = "testkit/src/delivery/DeliveryStoreMemory.ts"

export const ownershipMutants: ReadonlyArray<Mutant> = [
  // epochs and leases in the store
  mutant(tables, "no write compares the epoch",
    "epochs.get(partition) === epoch && ", "epochs.has(partition) && "),
  mutant(take, "a take does not compare the epoch",
    "this.held = partitionsHeld(this.tenant, request.owned)", "this.held = new Set(request.owned.map(({ partition }) => partition))"),
  mutant(store, "a settlement does not compare the epoch",
    "settle({ destinations, ended, outcomes, owned, tenantId }: SettleRequest, now: number): Settled {\n    const tenant = this.rows.of(tenantId)\n    const held = partitionsHeld(tenant, owned)", "settle({ destinations, ended, outcomes, owned, tenantId }: SettleRequest, now: number): Settled {\n    const tenant = this.rows.of(tenantId)\n    const held = new Set(owned.map(({ partition }) => partition))"),
  mutant(store, "a settlement under an old epoch is reported as written",
    "return { owned: [...held], locked: [] }", "return { owned: owned.map(({ partition }) => partition), locked: [] }"),
  mutant(ownership, "a new owner does not raise the epoch",
    "const epoch = this.raiseEpoch(tenant, partition)", "const epoch = tenant.epochs.get(partition) ?? this.raiseEpoch(tenant, partition)"),
  mutant(ownership, "a partition is acquired while its owner is alive",
    "if (before !== undefined && before.workerId !== workerId && !isOver) return []", ""),
  mutant(ownership, "a partition of a crashed owner is never free",
    "const free = this.leases().filter(({ lease }) => lease.leasedUntil <= now)", "const free = this.leases().filter(({ lease }) => lease.leasedUntil === -Infinity)"),
  mutant(ownership, "a partition that never had an owner is not found",
    "if (lease === undefined) unowned.push({ tenantId, partition })", "if (lease === undefined) continue"),
  mutant(ownership, "a renewal extends no lease",
    "for (const { partition, tenant } of own) this.journal.put(tenant.leases, partition, { workerId, leasedUntil: now + leaseMillis, leaseMillis })", ""),
  mutant(ownership, "a lease that lies ahead since the clock was set back is left",
    "if (isAhead(lease.leasedUntil, lease, now))", "if (lease.leasedUntil === Infinity)"),
  mutant(ownership, "a lease that is a little ahead counts as one that lies ahead",
    "until > now + 2 * leaseMillis", "until > now"),
  mutant(ownership, "a killed worker counts as alive since the clock was set back",
    "each.aliveUntil > now && !isAhead(each.aliveUntil, each, now)", "each.aliveUntil > now"),
  mutant(ownership, "flights are lost at a takeover",
    "      this.interrupt(tenant, flight, now)\n      this.journal.drop(tenant.flights, key)", "      this.journal.drop(tenant.flights, key)"),
  mutant(ownership, "a stopping worker counts as alive",
    "aliveUntil: isStopping ? now : now + leaseMillis", "aliveUntil: now + leaseMillis"),
  mutant(ownership, "flights are left at a takeover",
    "      this.interruptAll(tenant, partition, now)\n", ""),
  mutant(ownership, "a takeover is reported as a handover",
    "const takenOver = isOver && before.leasedUntil !== -Infinity", "const takenOver = false"),
  mutant(ownership, "a reclaimed take counts as an attempt",
    `        this.journal.set(delivery, "attempt", delivery.attempt - 1)\n        this.journal.set(delivery, "tries", delivery.tries - 1)`, ""),
  mutant(ownership, "a reclaimed take may still happen",
    "return { tenantId: tenant.tenantId, partition, epoch: this.raiseEpoch(tenant, partition) }", "return { tenantId: tenant.tenantId, partition, epoch: tenant.epochs.get(partition)! }"),
  mutant(ownership, "a busy partition is released as idle",
    "if (idle && !this.hasWork(tenant, partition, now)) this.journal.drop(tenant.leases, partition)", "if (true) this.journal.drop(tenant.leases, partition)"),
  mutant(ownership, "rates are not handed over",
    `if (destination !== undefined && held.has(destination.partition)) this.journal.set(destination, "rateMark", mark)`, ""),
  // crashes of the store
  mutant(tables, "an owner whose last outcome was lost still owns its partition",
    " && (lastOutcome === undefined || isThere(lastOutcome))", ""),
  mutant(tables, "the lost outcome of a retry is there",
    `delivery !== undefined && (delivery.state !== "sending" || delivery.attempt > attempt)`, "delivery !== undefined"),
  mutant(tables, "an outcome is lost once its delivery is sent again",
    `(delivery.state !== "sending" || delivery.attempt > attempt)`, `delivery.state !== "sending"`),
  mutant(workSet, "an owner does not name its last outcome",
    "({ tenantId, partition, epoch, lastOutcome }))", "({ tenantId, partition, epoch }))"),
  mutant(settling, "an owner does not remember its last outcome",
    "destination.owned.lastOutcome = each.outcome", ""),
  mutant(settling, "an owner names the first outcome that it wrote",
    "destination.owned.lastOutcome = each.outcome", "destination.owned.lastOutcome ??= each.outcome"),
  // the engine
  mutant(owning, "leases are never renewed",
    "this.nextRenewal = asked + options.leaseMillis / 3", "this.nextRenewal = Infinity"),
  mutant(sending, "a worker sends after its lease has expired",
    " || now >= parts.leasedUntil) {", ") {"),
  mutant(owning, "nothing is taken after a lease has expired once",
    "if (hadRunOut) work.workAvailable.openUnsafe()", ""),
  mutant(owning, "a partition whose acquisition had no response is lost",
    "if (unknown.length > 0) yield* this.acquire(unknown, true)", ""),
  mutant(destination, "the rate is lost at a takeover",
    "Math.max((loaded.rateMark ?? -Infinity) - storeAhead, markAfterOthers(loaded.policy.rateLimitPerMinute, destination.owned.othersUntil))", "(loaded.rateMark ?? -Infinity) - storeAhead"),
  mutant(owning, "the rate is lost if an acquisition had no response",
    "work.hold(isLeased ? { ...each, othersUntil: answer.now } : each, answered, this.parts.storeAhead)", "work.hold(each, answered, this.parts.storeAhead)"),
  mutant(taking, "a lost take is not reclaimed",
    "Effect.forEach(tenant.lostFlights, (flight) => this.reclaim(tenant, flight), { discard: true })", "Effect.sync(() => tenant.lostFlights.clear())"),
  mutant(taking, "signals that a lost take consumed are lost",
    "      work.found(tenant.tenantId, destinations)\n", ""),
  mutant(owning, "partitions above the worker's share are not released",
    "for (const partition of held.filter(({ leaving }) => !leaving).slice(0, Math.max(0, above))) partition.leaving = true", ""),
  mutant(owning, "an idle partition is never released",
    "else if ((partition.quietSince ??= now) + quietMillis <= now) partition.leaving = true", ""),
  mutant(owning, "a partition is released with attempts in flight",
    "for (const { inFlight, taking } of destinations.values()) if (taking || inFlight.size > 0) return false", ""),
  mutant(owning, "a worker that stops keeps its partitions",
    "Effect.suspend(() => this.giveBack(() => true))", "Effect.void"),
  mutant(owning, "a worker that stops does not wait for partitions that it is acquiring",
    "Effect.suspend(() => Fiber.awaitAll(this.acquiring)).pipe(", "Effect.void.pipe(")
]
