/**
 * The delivery engine's loops over one state: one claims destinations that are due, freezes batches and sends; one does so for destinations that
 * something was published for, so that it does not wait behind a backlog, and a second relieves it where that takes long; one
 * writes outcomes and gives leases back. While one waits for storage, attempts run and the others go on.
 *
 * Everything that must survive is in the queue: a worker that is killed loses only its leases, which run out.
 */
import { Effect, Exit } from "effect"
import * as Clock from "effect/Clock"
import type { StorageError } from "../shared/StorageError.ts"
import type { UniqueIds } from "../shared/UniqueIds.ts"
import { Agenda } from "./Agenda.ts"
import { type Attempt, attemptsOf, pausedByDeath, type Verdict } from "./Attempts.ts"
import { AttemptRoom } from "./AttemptRoom.ts"
import { AttemptsUnderWay } from "./AttemptsUnderWay.ts"
import type { DeliveryOptionValues } from "./DeliveryOptions.ts"
import type { ClaimedDestination, DeliveryQueue, Freeze } from "./DeliveryQueue.ts"
import { report, reportDropped, reportLost } from "./DeliveryReport.ts"
import { byTenant, clockAhead, deadSettlement, type HeldDestination, holdDestination, judge, outcomesOf } from "./HeldDestination.ts"
import type { Hmac } from "./Hmac.ts"
import { freezeOf, type DestinationPlan, planDestination } from "./DestinationPlan.ts"
import { hasWaited, lookAgainAfter, lookAgainMillis, mayRelease, refillable } from "./DestinationTurns.ts"
import { answeringInTime } from "./QueueDeadline.ts"
import type { makeSigningKeys } from "./SigningKeys.ts"
import { steadily } from "./Steadily.ts"
import { UnwrittenOutcomes } from "./UnwrittenOutcomes.ts"
import type { Wakeups } from "./Wakeups.ts"
import type { WebhookSender } from "./WebhookSender.ts"
import { workerMillis } from "./WorkerTime.ts"

/** However long a worker may sleep, it asks again this soon after it claimed something or gave it back. */
const askAgainMillis = 1000

/** Somebody who was writing to a destination is done with it after this long, mostly. */
const crossedMillis = 20

const tenantsPerPoll = 256

/** Where the claim for what was published takes longer than this, what was published since need not wait for it. */
const reliefMillis = 25

const sendsAtAStretch = 16

/** Bytes that one claim hands out of one destination, about: others wait while they are read. */
const bytesPerTurn = 256 * 1024

export interface PumpServices {
  readonly queue: DeliveryQueue["Service"]
  readonly sender: WebhookSender["Service"]
  readonly hmac: Hmac["Service"]
  readonly wakeups: Wakeups["Service"]
  readonly ids: UniqueIds["Service"]
  readonly options: DeliveryOptionValues
  readonly keysOf: ReturnType<typeof makeSigningKeys>
}

/** Why a destination is paused whose client may not use its secret any more. */
const pausedBySecret = (hmacSecretId: string): string =>
  `The signing secret ${hmacSecretId} no longer belongs to this client. Name another secret, or ask the operator for this one.`

const destinationKey = (tenantId: string, destinationId: string): string => `${tenantId}\n${destinationId}`

/** One worker's turn at the queue, from its first claim to its stop. */
export class DeliveryPump {
  private readonly services: PumpServices
  private readonly destinations = new Map<string, HeldDestination>()
  private readonly flights: AttemptsUnderWay
  private readonly agenda = new Agenda()
  private readonly outcomes = new UnwrittenOutcomes()
  private readonly room: AttemptRoom
  private attempts = 0
  private nextHeartbeat = 0
  private storeAhead: number | undefined
  private stopping = false

  constructor(services: PumpServices) {
    this.services = { ...services, queue: answeringInTime(services.queue, services.options.leaseMillis) }
    this.flights = new AttemptsUnderWay(services)
    this.room = new AttemptRoom(services.options)
  }

  get run(): Effect.Effect<void> {
    const pump = this
    const listen = Effect.forever(Effect.map(this.services.wakeups.next, (tenantIds) => {
      for (const tenantId of tenantIds) pump.agenda.arrived.comeBack(tenantId)
    }))
    const claiming = steadily(this.dueTurn("due"), this.untilDue())
    const hearing = steadily(this.arrivedTurn(), this.untilArrived())
    const relieving = steadily(this.arrivedTurn(), Effect.andThen(this.untilArrived(), Effect.sleep(reliefMillis)))
    const settling = steadily(this.settleTurn(), this.outcomes.until)
    return Effect.andThen(this.flights.ready, Effect.raceAllFirst([claiming, hearing, relieving, settling, listen])).pipe(
      Effect.onExit(() => pump.stop()),
      Effect.asVoid
    )
  }

  get drain(): Effect.Effect<number, StorageError> {
    const pump = this
    return Effect.gen(function*() {
      yield* pump.flights.ready
      for (;;) {
        pump.agenda.nextPoll = 0
        yield* pump.settleTurn()
        yield* pump.dueTurn("all")
        yield* pump.settleTurn()
        if (pump.destinations.size === 0 && pump.outcomes.attempts === 0 && pump.agenda.due.tenants.size === 0) return pump.attempts
        yield* Effect.raceFirst(pump.outcomes.until, pump.untilDue())
      }
    }).pipe(Effect.onExit(() => pump.stop()))
  }

  /** Leases kept alive, new work in. */
  private dueTurn(what: "all" | "due"): Effect.Effect<void, StorageError> {
    const pump = this
    const { due } = this.agenda
    return Effect.gen(function*() {
      const now = yield* workerMillis
      due.beginTurn(now)
      if (pump.destinations.size > 0 && now >= pump.nextHeartbeat) yield* pump.heartbeat(now)
      if (now >= pump.agenda.nextPoll) yield* pump.poll(now, what)
      for (const tenantId of Array.from(due.tenants)) if (due.tenants.has(tenantId)) yield* pump.claim(tenantId, now, what)
    })
  }

  /** What was published. The other loop goes on with the destinations we hold. */
  private arrivedTurn(): Effect.Effect<void, StorageError> {
    const pump = this
    const { arrived } = this.agenda
    return Effect.gen(function*() {
      const now = yield* workerMillis
      arrived.beginTurn(now)
      for (const tenantId of Array.from(arrived.tenants)) if (arrived.tenants.has(tenantId)) yield* pump.claim(tenantId, now, "arrived")
    })
  }

  /** Outcomes out, leases back. */
  private settleTurn(): Effect.Effect<void, StorageError> {
    const pump = this
    return Effect.gen(function*() {
      yield* pump.outcomes.gather(() => pump.room.underWay > 0)
      yield* pump.settle(yield* workerMillis)
    })
  }

  private untilDue(): Effect.Effect<void> {
    return Effect.flatMap(workerMillis, (now) =>
      this.agenda.untilDue(now, Math.min(this.destinations.size > 0 ? this.nextHeartbeat : Infinity, this.patience("due"))))
  }

  private untilArrived(): Effect.Effect<void> {
    return Effect.flatMap(workerMillis, (now) => this.agenda.arrived.until(now, this.patience("arrived")))
  }

  /** When a loop that was told to be patient asks all the same. */
  private patience(loop: "arrived" | "due"): number {
    return this.agenda[loop].tenants.size > 0 && !this.room.isFull ? this.room.patientUntil[loop] : Infinity
  }

  private heartbeat(now: number): Effect.Effect<void, StorageError> {
    const pump = this
    const { leaseMillis } = this.services.options
    return Effect.gen(function*() {
      pump.nextHeartbeat = now + leaseMillis / 3
      for (const [tenantId, destinations] of byTenant(pump.destinations.values())) {
        const kept = yield* pump.services.queue.heartbeat(tenantId, destinations, leaseMillis)
        // what was given back meanwhile is not lost
        const lost = destinations.filter((destination) => !kept.has(destination.destinationId) && !destination.busy && pump.destinations.get(destinationKey(tenantId, destination.destinationId)) === destination)
        if (lost.length > 0) yield* pump.lose(tenantId, lost)
      }
    })
  }

  private lose(tenantId: string, destinations: ReadonlyArray<HeldDestination>): Effect.Effect<void> {
    for (const destination of destinations) {
      destination.lost = true
      this.forget(destination)
    }
    return reportLost(tenantId, destinations.length)
  }

  private poll(now: number, what: "all" | "due"): Effect.Effect<void, StorageError> {
    const { agenda, services: { options, queue } } = this
    // what is to be looked at sooner is noted while it answers
    agenda.beginPoll(now, now + Math.min(options.pollMillis, this.room.underWay > 0 ? askAgainMillis : Infinity))
    return Effect.map(queue.tenantsDue(tenantsPerPoll), ({ arrived, due, nextDueInMillis }) => {
      for (const tenantId of due) agenda.due.add(tenantId)
      if (what === "all") for (const tenantId of arrived) agenda.due.add(tenantId)
      else for (const tenantId of arrived) agenda.arrived.comeBack(tenantId)
      for (const destination of this.destinations.values()) {
        if (destination.underWay > 0 ? hasWaited(destination, now) : destination.more && destination.notBefore <= now) agenda.due.add(destination.tenantId)
      }
      agenda.lookAt(now + Math.max(1, nextDueInMillis ?? Infinity))
    }).pipe(Effect.onError(() => Effect.sync(() => {
      agenda.nextPoll = now
    })))
  }

  private claim(tenantId: string, now: number, what: "all" | "arrived" | "due"): Effect.Effect<void, StorageError> {
    const pump = this
    const { options, queue } = this.services
    const list = this.agenda[what === "arrived" ? "arrived" : "due"]
    if (this.room.isFull) return Effect.void
    const refill = what === "arrived" ? [] : refillable(this.destinations.values(), { tenantId, now, room: this.room, agenda: this.agenda })
    const maxDestinations = this.room.newDestinations(now, this.destinations.size, what === "arrived" ? "arrived" : "due")
    if (maxDestinations === 0 && refill.length === 0) return Effect.void
    const asked = maxDestinations + refill.length
    const touched = new Set(refill)
    for (const destination of refill) {
      destination.busy = true
      // before the claim looks: what is settled while it looks was still in its way
      destination.more = false
      destination.settled = false
    }
    // a hint that comes while the claim is under way counts for the next one
    list.ask(tenantId)
    // what is left on it need not wait for this claim: there are two loops
    if (what === "arrived") list.makeRoom()
    this.room.ask(maxDestinations)
    const { freeBytes, perDestination } = this.room
    return Effect.gen(function*() {
      const askedAt = yield* workerMillis
      const claim = yield* queue.claim({
        tenantId,
        maxDestinations,
        refill,
        ...(what === "all" ? {} : { only: what }),
        leaseMillis: options.leaseMillis,
        deliveriesPerDestination: perDestination,
        bytesPerDestination: Math.min(Math.ceil(freeBytes / asked), bytesPerTurn)
      }).pipe(Effect.onExit(() => Effect.sync(() => pump.room.ask(-maxDestinations))))
      const answeredAt = yield* workerMillis
      if (claim.dropped > 0) yield* reportDropped(tenantId, "not_visible", claim.dropped)
      // the machine's clock is believed once, as far as the store does not contradict it
      const believed = pump.storeAhead ?? (yield* Clock.currentTimeMillis) - answeredAt
      const storeAhead = pump.storeAhead = claim.destinations.length === 0 ? believed : clockAhead(claim.now, askedAt, answeredAt, believed)
      // passed over because somebody was writing to its row: what waits in it is still there
      const given = new Set(claim.destinations.map(({ destinationId }) => destinationId))
      for (const destination of refill) if (!given.has(destination.destinationId)) destination.settled = true
      // others may hold what we were not given; whoever asks learns when their leases run out
      pump.agenda.lookAt(now + askAgainMillis)
      if (claim.crossed) list.comeBackAt(tenantId, answeredAt + crossedMillis)
      if (maxDestinations === 0) list.add(tenantId)
      else if (claim.destinations.length === asked) {
        list.comeBack(tenantId)
        // what arrived for more destinations is due by now
        if (what === "arrived") pump.agenda.due.comeBack(tenantId)
      }
      if (pump.nextHeartbeat <= now) pump.nextHeartbeat = now + options.leaseMillis / 3
      const started = yield* pump.start(tenantId, claim.destinations, { now, storeNow: claim.now, storeAhead, touched })
      pump.room.adapt(started, claim.destinations.length === asked)
    }).pipe(Effect.onExit((exit) =>
      Effect.sync(() => {
        if (Exit.isFailure(exit)) {
          list.add(tenantId)
          // destinations may be leased although the answer got lost
          pump.agenda.lookAt(now + options.leaseMillis)
        }
        for (const destination of touched) {
          destination.busy = false
          if (Exit.isFailure(exit)) destination.settled = true
          if (destination.underWay === 0) this.outcomes.wake()
        }
        // what waits behind what arrived is the other loop's
        if (what === "arrived") pump.agenda.due.makeRoom()
      })
    ))
  }

  /** Plans, freezes and starts what was claimed; answers how many attempts. `storeNow` is the store's clock, `now` the worker's time. */
  private start(
    tenantId: string,
    claimed: ReadonlyArray<ClaimedDestination>,
    { now, storeAhead, storeNow, touched }: {
      readonly now: number
      readonly storeAhead: number
      readonly storeNow: number
      readonly touched: Set<HeldDestination>
    }
  ): Effect.Effect<number, StorageError> {
    const pump = this
    const { options, queue } = this.services
    const planned: Array<{ readonly held: HeldDestination; readonly destination: ClaimedDestination; readonly plan: DestinationPlan; readonly freeze: Freeze; promised: number }> = []
    return Effect.gen(function*() {
      for (const destination of claimed) {
        const held = pump.hold(tenantId, destination, now, storeAhead)
        touched.add(held)
        if (destination.secretRefused) {
          held.pause = pausedBySecret(destination.hmacSecretId)
          held.more = false
          continue
        }
        const room = pump.room.of(held)
        const plan = planDestination(destination, storeNow, { room, underWay: held.underWay, maxBatchBytes: options.maxBatchBytes })
        pump.note(held, plan, { now, room })
        if (plan.hopeless.length > 0 && destination.whenDead === "pause") {
          held.pause = pausedByDeath(destination.policy.maxAttempts)
          continue
        }
        const attempts = plan.again.length + plan.batches.length
        if (attempts === 0) continue
        pump.room.promise(held, attempts)
        planned.push({ held, destination, plan, freeze: freezeOf(destination, plan, storeNow, pump.services.ids.nextAt), promised: attempts })
      }
      if (planned.length === 0) return 0
      const ours = yield* queue.freeze(tenantId, planned.map((each) => each.freeze)).pipe(
        Effect.onError(() => Effect.sync(() => {
          for (const { held } of planned) held.doubtful = true
        }))
      )
      let started = 0
      for (const each of planned) {
        const { freeze, held, destination, plan } = each
        if (!ours.has(destination.destinationId)) {
          // paused, deleted or taken over meanwhile; giving it back changes nothing where it is no longer ours
          held.more = false
          held.settled = true
          continue
        }
        const keys = yield* pump.services.keysOf(tenantId, destination, storeNow)
        for (const attempt of attemptsOf(tenantId, destination, plan, freeze, { keys, storeAhead })) {
          each.promised -= 1
          started += 1
          yield* pump.send(held, attempt)
          // hundreds at a stretch would hold up whatever else this process does
          if (started % sendsAtAStretch === 0) yield* Effect.yieldNow
        }
      }
      return started
    }).pipe(Effect.onExit(() => Effect.sync(() => {
      for (const { held, promised } of planned) if (promised > 0) pump.room.promise(held, -promised)
    })))
  }

  private hold(tenantId: string, destination: ClaimedDestination, now: number, storeAhead: number): HeldDestination {
    const key = destinationKey(tenantId, destination.destinationId)
    const before = this.destinations.get(key)
    if (before !== undefined && before.token === destination.token) {
      before.arrivals = destination.arrivals
      before.storeAhead = storeAhead
      if (before.endpointUrl !== destination.endpointUrl) {
        before.endpointUrl = destination.endpointUrl
        before.breaker = destination.breaker
        before.breakerChanged = false
      }
      return before
    }
    const held = holdDestination(tenantId, destination, now, storeAhead)
    if (before !== undefined) before.lost = true
    this.destinations.set(key, held)
    return held
  }

  private note(held: HeldDestination, plan: DestinationPlan, { now, room }: { readonly now: number; readonly room: number }): void {
    held.rateMark = plan.rateMark
    if (room > 0 && plan.again.length + plan.batches.length === 0) held.lookAgainAt = lookAgainAfter(held, now)
    held.more = plan.more
    held.notBefore = plan.notBeforeMillis > 0 ? now + plan.notBeforeMillis : 0
    if (plan.more && plan.notBeforeMillis === 0) this.agenda.due.add(held.tenantId)
    for (const due of plan.hopeless) this.outcomes.giveUp({ destination: held, settlement: deadSettlement(held, due) })
  }

  private send(destination: HeldDestination, attempt: Attempt): Effect.Effect<void> {
    this.room.begin(destination, attempt.body.length)
    this.attempts += 1
    destination.underWay += 1
    return this.flights.begin(attempt, (verdict) => this.land(destination, attempt, verdict))
  }

  private land(destination: HeldDestination, attempt: Attempt, verdict: Verdict): void {
    this.room.end(destination, attempt.body.length)
    destination.underWay -= 1
    destination.settled = true
    judge(destination, attempt, verdict)
    this.outcomes.add({ destination, attempt, verdict })
  }

  /** Writes verdicts and gives back leases of destinations that have nothing under way. */
  private settle(now: number): Effect.Effect<void, StorageError> {
    const { finished, hopeless } = this.outcomes.take()
    const released: Array<HeldDestination> = []
    for (const destination of this.destinations.values()) {
      if (mayRelease(destination, { now, isWanted: !this.stopping && this.destinations.size < this.services.options.maxDestinations })) {
        // it would come back at once, and take the place of a destination that may send
        if (destination.more && this.room.isFullFor(destination)) destination.notBefore = Math.max(destination.notBefore, now + askAgainMillis)
        released.push(destination)
      } else if (destination.underWay === 0 && !destination.lost && !destination.busy) {
        // kept because it can be handed more; a rate that held it back may have been what nobody else waited for
        this.agenda.due.add(destination.tenantId)
        this.agenda.lookAt(now + lookAgainMillis)
      }
    }
    if (finished.length === 0 && hopeless.length === 0 && released.length === 0) return Effect.void
    for (const destination of released) destination.busy = true
    // also of deliveries given up without an attempt: their shipments' next events may go
    for (const { destination } of [...finished, ...hopeless]) destination.settled = true
    const changed = new Set([...finished.map((each) => each.destination), ...hopeless.map((each) => each.destination), ...released])
    const outcomes = outcomesOf(changed, { finished, hopeless, released: new Set(released) }, now)
    // told once: attempts that end meanwhile say anew what they have to say, and its owner may have resumed a paused destination
    const told = Array.from(changed, (destination) => ({ destination, breakerChanged: destination.breakerChanged, pause: destination.pause }))
    for (const { destination } of told) {
      destination.breakerChanged = false
      destination.pause = undefined
    }
    const writes = Effect.forEach(outcomes, ({ deliveries, destinations, tenantId }) =>
      Effect.map(this.services.queue.settle(tenantId, { deliveries, destinations }), (dueNow) => {
        if (dueNow) this.agenda.due.comeBack(tenantId)
      }), { discard: true })
    return writes.pipe(
      // settling twice changes nothing more
      Effect.onError(() => Effect.sync(() => {
        this.outcomes.putBack({ finished, hopeless })
        for (const { breakerChanged, destination, pause } of told) {
          destination.breakerChanged ||= breakerChanged
          destination.pause ??= pause
        }
        for (const destination of released) {
          destination.busy = false
          destination.doubtful = true
        }
        this.agenda.lookAt(now + askAgainMillis)
      })),
      Effect.andThen(Effect.suspend(() => {
        this.room.written(finished.length)
        for (const destination of released) {
          this.forget(destination)
          this.agenda.lookAt(destination.notBefore > now ? destination.notBefore : now + askAgainMillis)
        }
        // a claim that looked before this was written found these shipments held
        for (const { destination } of [...finished, ...hopeless]) {
          destination.settled = true
          const goesOn = destination.more || (destination.underWay > 0 && hasWaited(destination, now))
          if (goesOn && !destination.lost && destination.notBefore <= now) this.agenda.due.comeBack(destination.tenantId)
        }
        for (const { verdict } of finished) if (verdict.state === "waiting") this.agenda.lookAt(now + Math.max(1, verdict.dueInMillis))
        this.agenda.makeRoom()
        return report(finished)
      }))
    )
  }

  /** Unless the destination was claimed anew meanwhile. */
  private forget(destination: HeldDestination): void {
    const key = destinationKey(destination.tenantId, destination.destinationId)
    if (this.destinations.get(key) === destination) this.destinations.delete(key)
  }

  private stop(): Effect.Effect<void> {
    const pump = this
    const { drainMillis } = this.services.options
    return Effect.gen(function*() {
      pump.stopping = true
      const idle = Effect.gen(function*() {
        while (pump.room.underWay > 0) {
          yield* pump.outcomes.until
          yield* Effect.ignore(pump.settle(yield* workerMillis))
        }
      })
      yield* Effect.raceFirst(Effect.interruptible(idle), Effect.interruptible(Effect.sleep(drainMillis)))
      yield* pump.flights.abandon
      for (const destination of pump.destinations.values()) {
        destination.underWay = 0
        destination.busy = false
      }
      yield* pump.settle(yield* workerMillis).pipe(
        Effect.catchTag("StorageError", (error) =>
          Effect.logError("Outcomes not written at shutdown. Their leases expire, then the deliveries are sent again.", error))
      )
    })
  }
}
