/** Faulty changes to the ownership of partitions, in the engine and in the store. */
import { type Mutant, mutant, rareMutant } from "./Mutant.ts"

const owning = "core/src/delivery/worker/Owning.ts"
const taking = "core/src/delivery/worker/Taking.ts"
const sending = "core/src/delivery/worker/Sending.ts"
const destination = "core/src/delivery/worker/Destination.ts"
const ownership = "testkit/src/delivery/OwnershipMemory.ts"
const tables = "testkit/src/delivery/DestinationTables.ts"
const take = "testkit/src/delivery/TakeMemory.ts"
const store = "testkit/src/delivery/DeliveryStoreMemory.ts"

export const ownershipMutants: ReadonlyArray<Mutant> = [
  // epochs and leases in the store
  {
    name: "no write compares the epoch",
    file: tables,
    find: "new Set(owned.filter(({ epoch, partition }) => epochs.get(partition) === epoch).map(({ partition }) => partition))",
    replace: "new Set(owned.filter(({ partition }) => epochs.has(partition)).map(({ partition }) => partition))"
  },
  {
    name: "a take does not compare the epoch",
    file: take,
    find: "this.held = partitionsHeld(this.tenant, request.owned)",
    replace: "this.held = new Set(request.owned.map(({ partition }) => partition))"
  },
  {
    name: "a settlement does not compare the epoch",
    file: store,
    find: "settle({ destinations, ended, outcomes, owned, tenantId }: SettleRequest, now: number): ReadonlyArray<number> {\n    const tenant = this.rows.tenant(tenantId)\n    const held = partitionsHeld(tenant, owned)",
    replace: "settle({ destinations, ended, outcomes, owned, tenantId }: SettleRequest, now: number): ReadonlyArray<number> {\n    const tenant = this.rows.tenant(tenantId)\n    const held = new Set(owned.map(({ partition }) => partition))"
  },
  {
    name: "a settlement under an old epoch is reported as written",
    file: store,
    find: "    return [...held]\n",
    replace: "    return owned.map(({ partition }) => partition)\n"
  },
  {
    name: "a new owner does not raise the epoch",
    file: ownership,
    find: "const epoch = this.raiseEpoch(tenant, partition)",
    replace: "const epoch = tenant.epochs.get(partition) ?? this.raiseEpoch(tenant, partition)"
  },
  {
    name: "a partition is acquired while its owner is alive",
    file: ownership,
    find: "if (before !== undefined && before.workerId !== workerId && !isOver) return []",
    replace: ""
  },
  {
    name: "a partition of a crashed owner is never free",
    file: ownership,
    find: "const free = this.leases().filter(({ lease }) => lease.leasedUntil <= now)",
    replace: "const free = this.leases().filter(({ lease }) => lease.leasedUntil === -Infinity)"
  },
  {
    name: "a partition that never had an owner is not found",
    file: ownership,
    find: "if (lease === undefined) unowned.push({ tenantId, partition })",
    replace: "if (lease === undefined) continue"
  },
  {
    name: "a renewal extends no lease",
    file: ownership,
    find: "for (const { partition, tenant } of own) this.journal.put(tenant.leases, partition, { workerId, leasedUntil: now + leaseMillis, leaseMillis })",
    replace: ""
  },
  {
    name: "a lease that lies ahead since the clock was set back is left",
    file: ownership,
    find: "if (isAhead(lease.leasedUntil, lease, now))",
    replace: "if (lease.leasedUntil === Infinity)"
  },
  {
    name: "a lease that is a little ahead counts as one that lies ahead",
    file: ownership,
    find: "until > now + 2 * leaseMillis",
    replace: "until > now"
  },
  {
    name: "a killed worker counts as alive since the clock was set back",
    file: ownership,
    find: "each.aliveUntil > now && !isAhead(each.aliveUntil, each, now)",
    replace: "each.aliveUntil > now"
  },
  {
    name: "flights are lost at a takeover",
    file: ownership,
    find: "      this.interrupt(tenant, flight, now)\n      this.journal.drop(tenant.flights, key)",
    replace: "      this.journal.drop(tenant.flights, key)"
  },
  {
    name: "flights are left at a takeover",
    file: ownership,
    find: "      this.interruptAll(tenant, partition, now)\n",
    replace: ""
  },
  {
    name: "a takeover is reported as a handover",
    file: ownership,
    find: "const takenOver = isOver && before.leasedUntil !== -Infinity",
    replace: "const takenOver = false"
  },
  {
    name: "a reclaimed take counts as an attempt",
    file: ownership,
    find: `        this.journal.set(delivery, "attempt", delivery.attempt - 1)\n        this.journal.set(delivery, "tries", delivery.tries - 1)`,
    replace: ""
  },
  {
    name: "a reclaimed take may still happen",
    file: ownership,
    find: "return { tenantId: tenant.tenantId, partition, epoch: this.raiseEpoch(tenant, partition) }",
    replace: "return { tenantId: tenant.tenantId, partition, epoch: tenant.epochs.get(partition)! }"
  },
  {
    name: "a busy partition is released as idle",
    file: ownership,
    find: "if (idle && !this.hasWork(tenant, partition, now)) this.journal.drop(tenant.leases, partition)",
    replace: "if (true) this.journal.drop(tenant.leases, partition)"
  },
  {
    name: "a partition with work is idle if its worker says so",
    rare: true,
    file: ownership,
    find: "if (idle && !this.hasWork(tenant, partition, now)) this.journal.drop(tenant.leases, partition)",
    replace: "if (idle) this.journal.drop(tenant.leases, partition)"
  },
  {
    name: "a partition that was taken over is released as if all its rates were known",
    rare: true,
    file: owning,
    find: "othersUntil: each.othersUntil, ",
    replace: "othersUntil: undefined, "
  },
  {
    name: "rates are not handed over",
    file: ownership,
    find: `if (destination !== undefined && held.has(destination.partition)) this.journal.set(destination, "rateMark", mark)`,
    replace: ""
  },
  // the engine
  {
    name: "leases are never renewed",
    file: owning,
    find: "this.nextRenewal = asked + options.leaseMillis / 3",
    replace: "this.nextRenewal = Infinity"
  },
  {
    name: "a worker sends after its lease has expired",
    rare: true,
    file: sending,
    find: " || now >= parts.leasedUntil) {",
    replace: ") {"
  },
  {
    name: "nothing is taken after a lease has expired once",
    file: owning,
    find: "if (hadRunOut) work.workAvailable.openUnsafe()",
    replace: ""
  },
  {
    name: "the result of a take counts for the next ownership",
    rare: true,
    file: taking,
    find: "const isHeld = (partition: number) => work.partition(tenant.tenantId, partition) === held.get(partition)",
    replace: "const isHeld = (partition: number) => work.partition(tenant.tenantId, partition) !== undefined || held.size < 0"
  },
  {
    name: "a worker takes its own partitions over",
    rare: true,
    file: owning,
    find: "const free = found.filter(({ partition, tenantId }) => work.partition(tenantId, partition) === undefined)",
    replace: "const free = found"
  },
  {
    name: "a partition whose acquisition had no response is lost",
    file: owning,
    find: "if (unknown.length > 0) yield* this.acquire(unknown, true)",
    replace: ""
  },
  {
    name: "the rate is lost at a takeover",
    file: destination,
    find: "othersUntil === undefined ? rateMark : Math.max(rateMark ?? 0, markAfterOthers(policy.rateLimitPerMinute, othersUntil))",
    replace: "rateMark"
  },
  {
    name: "the rate is lost if an acquisition had no response",
    rare: true,
    file: owning,
    find: "work.hold(isLeased ? { ...each, othersUntil: answer.now } : each, answer.now)",
    replace: "work.hold(each, answer.now)"
  },
  {
    name: "a lost take is not reclaimed",
    file: taking,
    find: "Effect.forEach(tenant.lostFlights, (flight) => this.reclaim(tenant, flight), { discard: true })",
    replace: "Effect.sync(() => tenant.lostFlights.clear())"
  },
  {
    name: "signals that a lost take consumed are lost",
    file: taking,
    find: "      work.found(tenant.tenantId, destinations)\n",
    replace: ""
  },
  {
    name: "partitions above the worker's share are not released",
    file: owning,
    find: "for (const partition of held.filter(({ leaving }) => !leaving).slice(0, Math.max(0, above))) partition.leaving = true",
    replace: ""
  },
  {
    name: "an idle partition is never released",
    file: owning,
    find: "else if ((partition.quietSince ??= now) + quietMillis <= now) partition.leaving = true",
    replace: ""
  },
  {
    name: "a partition is released with attempts in flight",
    file: owning,
    find: "for (const { inFlight, taking } of destinations.values()) if (taking || inFlight.size > 0) return false",
    replace: ""
  },
  {
    name: "a worker that stops keeps its partitions",
    file: owning,
    find: "Effect.suspend(() => this.giveBack(() => true))",
    replace: "Effect.void"
  },
  {
    name: "a worker that stops does not wait for partitions that it is acquiring",
    file: owning,
    find: "Effect.suspend(() => Fiber.awaitAll(this.acquiring)).pipe(",
    replace: "Effect.void.pipe("
  }
]
