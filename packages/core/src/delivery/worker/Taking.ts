/** Takes deliveries, one tenant at a time. */
import { type Cause, Effect, Exit, identity, Iterable } from "effect"
import type { StorageError } from "../../shared/StoragePort.ts"
import { type Asked, chooseDestinations, destinationsPerTake } from "./Choosing.ts"
import { type Destination, foundBy, isFailing, signalled } from "./Destination.ts"
import { reportLost } from "../DeliveryReport.ts"
import { type OwnedPartition, partitionOf, type Taken, type TakeRequest } from "../DeliveryStore.ts"
import { dropUnsendable } from "./Dropping.ts"
import type { EngineState } from "./EngineState.ts"
import { destinationClosed, loadDestinations } from "./Loading.ts"
import { rateWindowMillis } from "../model/RateLimit.ts"
import { beginCall, hasDrops, type OwnedTenant, ownershipOf } from "./WorkSet.ts"
import { type Sending, sendsPerTurn } from "./Sending.ts"
import { monotonicMillis } from "../../shared/MonotonicTime.ts"

/** Number of loops that take. A busy tenant uses two: one waits for a take while the attempts of the take before begin. */
export const takesAtOnce = 6

/** A tenant whose turn lasts longer than `slowMillis` is slow for the next `slowForMillis`. Slow tenants use half of the loops. */
const slowMillis = 1_000
const slowForMillis = 60_000
const slowTurnsAtOnce = takesAtOnce / 2

/** Number of loops that consume signals of one tenant and take what they name. Together with those that take its backlog, one is left for other tenants. */
const signalTakesAtOnce = 2

/** Maximum number of signals that one take consumes. */
const signalsPerTake = 1000

/** Share of all slots for new deliveries of destinations that the store chooses, used only while a tenant has few attempts in flight, and of all bytes for them. */
const unrequestedPart = 1 / 16
const fewPart = 1 / 8
const unrequestedBytesPart = 1 / 2

/** Maximum number of entries of one destination that a take scans. */
const lookAt = 5000

/** The loop that takes deliveries and starts their attempts. */
export class Taking {
  private readonly parts: EngineState
  private readonly sending: Sending
  /** Pending turns of slow tenants. */
  private slowTurns = 0

  constructor(parts: EngineState, sending: Sending) {
    this.parts = parts
    this.sending = sending
  }

  /**
   * One take for each tenant that may have work, while slots are free. Fails with the first failure of a tenant, after the turn of the others. A tenant that fails twice in
   * a row is left out for `pauseMillis`.
   */
  turn(pauseMillis: number): Effect.Effect<void, StorageError> {
    const { slots, work } = this.parts
    return Effect.gen({ self: this }, function*() {
      const now = yield* monotonicMillis
      work.workAvailable.closeUnsafe()
      // nothing may be sent until a renewal succeeds
      if (now >= this.parts.leasedUntil) return
      work.runDueChecks(now)
      let failure: Cause.Cause<StorageError> | undefined
      for (const tenant of Array.from(work.demand)) {
        if (slots.free === 0) break
        if (now < tenant.failingUntil) continue
        const began = yield* monotonicMillis
        if (began < tenant.slowUntil && this.slowTurns >= slowTurnsAtOnce) continue
        const exit = yield* began < tenant.slowUntil ? this.slowly(tenant) : Effect.exit(this.serve(tenant))
        const ended = yield* monotonicMillis
        if (ended - began > slowMillis) tenant.slowUntil = ended + slowForMillis
        if (Exit.isSuccess(exit)) {
          if (exit.value) tenant.failed = false
          continue
        }
        failure ??= exit.cause
        // after a lost answer another loop tries again at once; after the next failure the loop that sees it waits for the tenant, and the others go on
        if (tenant.failed) tenant.failingUntil = ended + pauseMillis
        tenant.failed = true
      }
      if (failure !== undefined) return yield* Effect.failCause(failure)
    })
  }

  /** A turn of a slow tenant. */
  private slowly(tenant: OwnedTenant): Effect.Effect<Exit.Exit<boolean, StorageError>> {
    const { work } = this.parts
    this.slowTurns += 1
    return Effect.map(Effect.exit(this.serve(tenant)), (exit) => {
      this.slowTurns -= 1
      // another slow tenant may have waited for this turn; one in which nothing was done kept nobody waiting
      if ((exit._tag === "Failure" || exit.value) && work.demand.size > 0) work.workAvailable.openUnsafe()
      return exit
    })
  }

  /** Returns whether it did anything: another loop may do it. */
  private serve(tenant: OwnedTenant): Effect.Effect<boolean, StorageError> {
    const { work } = this.parts
    return Effect.gen({ self: this }, function*() {
      const hears = mayTakeSignals(tenant) && tenant.lostFlights.size === 0
      if (hears) yield* this.takeSignals(tenant)
      const takes = !tenant.taking && work.demand.delete(tenant)
      if (takes) yield* this.ofTenant(tenant)
      return hears || takes
    })
  }

  /** Waits until a tenant may have work. */
  get until(): Effect.Effect<void> {
    const { parts } = this
    return Effect.flatMap(monotonicMillis, (now) => {
      const next = parts.work.nextCheckAt
      if (next === undefined || now >= parts.leasedUntil) return parts.work.workAvailable.await
      return Effect.raceFirst(parts.work.workAvailable.await, Effect.sleep(Math.max(1, next - now)))
    })
  }

  /**
   * Another loop takes again while the attempts of this take begin. Those of the next one begin afterwards, so a fast store does not fill the memory of a slow process;
   * a few begin at once, and do not wait for hundreds.
   */
  private ofTenant(tenant: OwnedTenant): Effect.Effect<void, StorageError> {
    const { work } = this.parts
    let isTaking = true
    let goesOn = false
    tenant.taking = true
    const answered = (failed: boolean) => Effect.sync(() => {
      if (!isTaking) return
      isTaking = false
      tenant.taking = false
      // a loop may have skipped this tenant because a take was pending
      if (failed || mayTakeSignals(tenant) || goesOn || hasDrops(tenant) || work.demand.has(tenant)) work.want(tenant)
    })
    return Effect.gen({ self: this }, function*() {
      yield* this.reclaimAll(tenant)
      if (hasDrops(tenant)) yield* dropUnsendable(this.parts, tenant)
      yield* this.load(tenant)
      // the response of the concurrent signal take may have been lost during the load
      yield* this.reclaimAll(tenant)
      const now = yield* monotonicMillis
      const asked = chooseDestinations(this.parts, tenant, now)
      goesOn = asked.length > 0 || tenant.unloaded.size > 0
      if (asked.length === 0) {
        // the rest waits until an attempt ends; behind other tenants if it was served, because it looks again after the take
        if (tenant.ready.size > 0) work.waitingForSlots.add(tenant)
        return
      }
      yield* this.take(tenant, asked, now, (begin, deliveries) => {
        const begins = Effect.andThen(answered(false), begin)
        return deliveries <= sendsPerTurn ? begins : tenant.beginning.withPermit(begins)
      })
    }).pipe(Effect.onExit((exit) => answered(exit._tag === "Failure")))
  }

  /**
   * Consumes signals, then takes from the destinations that they name. Runs beside `ofTenant`, whose takes may be large. During the second take another loop consumes the
   * next signals.
   */
  private takeSignals(tenant: OwnedTenant): Effect.Effect<void, StorageError> {
    const { work } = this.parts
    let isHearing = true
    tenant.takingSignals = true
    tenant.signalTakes += 1
    const release = Effect.sync(() => {
      if (isHearing) tenant.takingSignals = false
      isHearing = false
      if (tenant.signalled || tenant.ready.size > 0 || tenant.unloaded.size > 0 || hasDrops(tenant) || work.demand.has(tenant)) work.want(tenant)
    })
    return Effect.gen({ self: this }, function*() {
      const heard = yield* this.take(tenant, [], yield* monotonicMillis)
      const unknown = Array.from(heard).filter((destination) => tenant.unloaded.has(destination)).slice(0, destinationsPerTake)
      if (unknown.length > 0) yield* loadDestinations(this.parts, tenant, unknown)
      const now = yield* monotonicMillis
      const asked = heard.size === 0 || tenant.lostFlights.size > 0 ? [] : chooseDestinations(this.parts, tenant, now, { among: heard, isSmall: true })
      if (asked.length > 0) yield* Effect.andThen(release, this.take(tenant, asked, now))
    }).pipe(Effect.ensuring(Effect.suspend(() => {
      tenant.signalTakes -= 1
      return release
    })))
  }

  /** Loads destinations that are unknown or have changed. */
  private load(tenant: OwnedTenant): Effect.Effect<void, StorageError> {
    const unknown = Array.from(Iterable.take(tenant.unloaded, destinationsPerTake))
    return unknown.length === 0 ? Effect.void : loadDestinations(this.parts, tenant, unknown)
  }

  /** Returns destinations with signals whose entries the take did not read. `when`: decides when the attempts begin. */
  private take(
    tenant: OwnedTenant,
    asked: ReadonlyArray<Asked>,
    now: number,
    when: (begin: Effect.Effect<void>, deliveries: number) => Effect.Effect<void> = identity
  ): Effect.Effect<ReadonlySet<Destination>, StorageError> {
    const { parts } = this
    const { slots, work } = parts
    const request = this.requestOf(tenant, asked, now)
    const promised = new Map(asked.map((each) => [each.destination, each.promised]))
    const since = work.nextEvent()
    const held = new Map(tenant.partitions)
    const isHeld = (partition: number) => held.get(partition)?.lost === false
    const answered = beginCall(request.owned.map(({ partition }) => held.get(partition)!))
    const guess = request.unrequested > 0 ? new Set([...request.skip, ...request.from.map(({ destinationId }) => destinationId)]) : undefined
    tenant.guess ??= guess
    if (request.signals > 0) tenant.signalled = false
    return Effect.gen({ self: this }, function*() {
      const { heard, taken } = yield* this.answerOf(tenant, asked, { request, isHeld, since, now })
      const left = new Set(taken.deliveries)
      yield* Effect.gen({ self: this }, function*() {
        const unknown = this.unknownAmong(tenant, taken)
        // deliveries of destinations that cannot be loaded are returned to the store
        const loaded = unknown.length === 0 ? true : yield* Effect.match(loadDestinations(this.parts, tenant, unknown), { onFailure: () => false, onSuccess: () => true })
        const { deliveries } = ofPartitions(taken, isHeld)
        yield* when(this.sending.begin(tenant, deliveries, { isHeld, left, loaded, promised }), deliveries.length)
      }).pipe(Effect.onError(() => Effect.sync(() => this.sending.giveBackAll(tenant, left, isHeld))))
      if (taken.moreSignals) tenant.signalled = true
      return heard
    }).pipe(Effect.ensuring(Effect.sync(() => {
      answered()
      if (guess !== undefined) tenant.guess = undefined
      const unused = Array.from(promised.values()).filter(({ attempts }) => attempts > 0)
      for (const { attempts, bytes, owner, wasFailing } of unused) {
        slots.use(owner, -attempts, wasFailing)
        slots.returnBytes(owner, bytes, wasFailing)
      }
      for (const { destination } of asked) {
        destination.taking = false
        work.touch(destination)
      }
      // another tenant may have waited for these
      if (unused.length > 0) work.makeRoom()
    })))
  }

  /** Requests a take, and records what it returned. If either fails, the take is reclaimed. */
  private answerOf(
    tenant: OwnedTenant,
    asked: ReadonlyArray<Asked>,
    { isHeld, now, request, since }: { readonly request: TakeRequest; readonly isHeld: (partition: number) => boolean; readonly since: number; readonly now: number }
  ): Effect.Effect<{ readonly taken: Taken; readonly heard: ReadonlySet<Destination> }, StorageError> {
    const { parts } = this
    return Effect.gen({ self: this }, function*() {
      const answer = yield* parts.store.take(request)
      const answeredAt = yield* monotonicMillis
      yield* parts.learnTime(answer.now, now, answeredAt)
      const taken = ofPartitions(answer, isHeld)
      // a refused partition that is still owned was fenced by this worker's own reclaim
      if (yield* this.keepOwned(tenant, request.owned, taken.owned)) tenant.signalled = true
      const heard = this.learn(tenant, { asked, taken, since, now: answeredAt })
      this.sending.taken(tenant, taken.deliveries)
      return { heard, taken }
    }).pipe(Effect.onError(() =>
      Effect.sync(() => {
        tenant.lostFlights.add(request.flight)
        tenant.signalled = true
        for (const { destination } of asked) destination.behind = true
      })
    ))
  }

  private requestOf(tenant: OwnedTenant, asked: ReadonlyArray<Asked>, now: number): TakeRequest {
    const { options, services, slots } = this.parts
    const sentAt = Math.floor(this.parts.storeTime(now))
    const owned = Array.from(tenant.partitions.values()).filter(({ leaving }) => !leaving)
    // attempts of a previous owner in the last minute are unknown
    const isKnown = owned.every(({ othersUntil }) => othersUntil + rateWindowMillis <= now)
    const hears = asked.length === 0
    const mayGuess = hears && tenant.sources.size > 0 && tenant.guess === undefined && isKnown && slots.usedBy(tenant.tenantId) <= options.concurrency * fewPart
    const most = Math.ceil(options.concurrency * unrequestedPart)
    const unrequested = mayGuess ? Math.min(most, slots.ofAnyClient(tenant.tenantId)) : 0
    const named = new Set(asked.map(({ destination }) => destination))
    const skip: Array<string> = []
    if (unrequested > 0) {
      for (const destination of tenant.busy) {
        if (isIdle(destination, now)) tenant.busy.delete(destination)
        else if (!named.has(destination)) skip.push(destination.destinationId)
      }
    }
    return {
      tenantId: tenant.tenantId,
      owned: ownershipOf(owned),
      flight: `${services.ids.nextAt(sentAt).slice(0, -4)}0000`,
      sentAt,
      from: asked.map(({ from }) => from),
      // a take with unrequested deliveries reads the tables of all known sources of this tenant, others only those of their destinations
      sources: Array.from(unrequested > 0 ? tenant.sources : new Set(asked.flatMap(({ destination }) => destination.settings?.source ?? []))),
      signals: hears ? signalsPerTake : 0,
      skip,
      unrequested,
      unrequestedBytes: Math.ceil(options.maxBytesInFlight * unrequestedBytesPart / most),
      maxBatchBytes: options.maxBatchBytes,
      lookAt
    }
  }

  /** Loses partitions that have another owner. Returns whether others were refused because this worker raised their epoch after the request. */
  private keepOwned(tenant: OwnedTenant, asked: ReadonlyArray<OwnedPartition>, owned: ReadonlyArray<number>): Effect.Effect<boolean> {
    const refused = asked.filter(({ partition }) => !owned.includes(partition))
    const lost = this.parts.work.loseRefused(refused)
    return Effect.as(lost === 0 ? Effect.void : reportLost(tenant.tenantId, lost), refused.length > lost)
  }

  private learn(
    tenant: OwnedTenant,
    { asked, now, since, taken }: { readonly asked: ReadonlyArray<Asked>; readonly taken: Taken; readonly since: number; readonly now: number }
  ): ReadonlySet<Destination> {
    const { work } = this.parts
    const byId = new Map(asked.map((each) => [each.destination.destinationId, each]))
    const ids = new Set(taken.deliveries.map(({ deliveryId }) => deliveryId))
    const owned = new Set(taken.owned)
    for (const found of taken.from) {
      const destination = work.destination(tenant.tenantId, found.destinationId)
      if (destination === undefined) continue
      const one = byId.get(found.destinationId)
      foundBy(destination, { asked: one?.from, found, now, since, taken: ids })
      if (destination.settings?.version !== found.version) destination.stale = true
      for (const key of found.unseenKeys) tenant.drops.keys.push({ destinationId: found.destinationId, key })
      for (const deliveryId of found.unseenDeliveries) tenant.drops.deliveries.push({ destinationId: found.destinationId, deliveryId })
      byId.delete(found.destinationId)
      if (one === undefined) work.touch(destination)
    }
    for (const { destination } of byId.values()) if (!destination.owned.lost && owned.has(destination.owned.partition)) destinationClosed(this.parts, tenant, destination)
    const answered = new Set(taken.from.map(({ destinationId }) => destinationId))
    const heard = new Set<Destination>()
    for (const { destinationId, key } of taken.signals) {
      const destination = work.destination(tenant.tenantId, destinationId)
      if (destination === undefined) continue
      // unrequested destinations were read from the first key on
      if (!answered.has(destinationId) || key === undefined) {
        signalled(destination, key, work.nextEvent())
        heard.add(destination)
      }
      work.touch(destination)
    }
    return heard
  }

  private unknownAmong(tenant: OwnedTenant, taken: Taken): ReadonlyArray<Destination> {
    const unknown = new Set<Destination>()
    for (const { destinationId } of taken.deliveries) {
      const destination = this.parts.work.find(tenant.tenantId, destinationId)
      if (destination !== undefined && (destination.settings === undefined || destination.stale)) unknown.add(destination)
    }
    return Array.from(unknown)
  }

  private reclaimAll(tenant: OwnedTenant): Effect.Effect<void, StorageError> {
    return Effect.suspend(() => Effect.forEach(tenant.lostFlights, (flight) => this.reclaim(tenant, flight), { discard: true }))
  }

  /** Returns the deliveries of a take without a response to the store. */
  private reclaim(tenant: OwnedTenant, flight: string): Effect.Effect<void, StorageError> {
    const { store, work } = this.parts
    const asked = ownershipOf(tenant.partitions.values())
    const answered = beginCall(Array.from(tenant.partitions.values()))
    return Effect.ensuring(Effect.flatMap(store.reclaim(tenant.tenantId, asked, flight), ({ destinations, owned }) => {
      tenant.lostFlights.delete(flight)
      for (const { epoch, partition } of owned) {
        const held = tenant.partitions.get(partition)
        if (held !== undefined) held.epoch = Math.max(held.epoch, epoch)
      }
      work.found(tenant.tenantId, destinations)
      // the take may have consumed the signal that they may send again, and the store names only those with work
      work.found(tenant.tenantId, withoutSending(tenant))
      return Effect.asVoid(this.keepOwned(tenant, asked, owned.map(({ partition }) => partition)))
    }), Effect.sync(answered))
  }
}

/** Destinations that do not send, by the last take. */
const withoutSending = ({ partitions }: OwnedTenant): ReadonlyArray<string> =>
  Array.from(partitions.values()).flatMap(({ destinations }) => Array.from(destinations.values()).flatMap(({ destinationId, sends }) => sends ? [] : [destinationId]))

/** Whether signals may exist that a loop may consume now. */
const mayTakeSignals = ({ signalled, signalTakes, takingSignals }: OwnedTenant): boolean => signalled && !takingSignals && signalTakes < signalTakesAtOnce

/** Removes results of partitions that were lost during the call: they belong to the next owner, even if it is the same worker. */
const ofPartitions = (taken: Taken, isHeld: (partition: number) => boolean): Taken => {
  const isOwn = ({ destinationId }: { readonly destinationId: string }) => isHeld(partitionOf(destinationId))
  return { ...taken, signals: taken.signals.filter(isOwn), from: taken.from.filter(isOwn), deliveries: taken.deliveries.filter(isOwn) }
}

/** Whether a take may return unrequested deliveries of this destination. */
const isIdle = (destination: Destination, now: number): boolean =>
  !destination.taking && destination.inFlight.size === 0 && destination.pause === undefined && destination.unreadableUntil === undefined &&
  !isFailing(destination) && destination.rateMark <= now && destination.cursor === undefined
