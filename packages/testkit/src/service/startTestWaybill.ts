/** The whole service in memory for any test runner: promises, a virtual clock, receivers without a port. */
import { ChargeWindows, DeliveryWorker, type DeliveryOptions, SigningSecrets, Tenants } from "@waybill/core"
import { Cause, Context, Effect, Exit, Fiber, Layer, Logger, Random, Redacted, Scope } from "effect"
import * as Clock from "effect/Clock"
import { Scheduler } from "effect/Scheduler"
import { ScriptedReceivers } from "../delivery/WebhookSenderScripted.ts"
import type { JourneyName } from "../journeys/Journeys.ts"
import { type Journey, type StartJourneyOptions, startJourney } from "../journeys/startJourney.ts"
import { TestWaybill } from "../TestWaybill.ts"
import {
  type FreightChargeCalls,
  freightChargeCallsOf,
  type ShipmentStatusCalls,
  shipmentStatusCallsOf,
  type TransitEventCalls,
  transitEventCallsOf
} from "./AreaCalls.ts"
import type { Caller } from "./Caller.ts"
import { type OperatorCalls, operatorCallsOf } from "./OperatorCalls.ts"
import { type InvoiceCalls, invoiceCallsOf, type PickupCalls, pickupCallsOf } from "./DocumentCalls.ts"
import { realScheduler } from "./RealScheduler.ts"
import type { Run, TestServices } from "./Run.ts"
import { makeTestReceiver, type TestReceiver } from "./TestReceiver.ts"
import { millisOf, type TimeSpan } from "./TimeSpan.ts"
import { makeVirtualClock, type VirtualClock } from "./VirtualClock.ts"

export interface StartOptions {
  /** The initial tenant; `acme` by default. */
  readonly tenantId?: string
  /** The initial time; 2026-11-20T14:00:00Z by default. */
  readonly now?: Date | string
  /** The time zone whose hours and midnights close charge windows; UTC by default. */
  readonly timeZone?: string
  /** Settings of the delivery worker, such as `attemptTimeoutMillis`. */
  readonly delivery?: Partial<DeliveryOptions["Service"]>
  /** Seed of random values such as the jitter of retries. */
  readonly seed?: string
}

/**
 * The service, with the methods of `createWaybill`. Every call resolves after the deliveries that it made due, and rejects with the
 * use case's own error, whose `_tag` names it.
 */
export interface StartedTestWaybill extends ShipmentStatusCalls, InvoiceCalls, PickupCalls, TransitEventCalls, FreightChargeCalls, OperatorCalls {
  readonly tenantId: string
  /** Writes through intake, and sees all of the tenant. */
  readonly carrier: Caller
  /** A customer with account `A-1`. */
  readonly shipper: Caller
  /** Any further customer. */
  readonly customer: (client: string, accounts: ReadonlyArray<string>) => Caller
  /** A signing secret (`whsec_…`) that subscriptions name as `hmacSecretId`. */
  readonly secret: string
  readonly hmacSecretId: string
  /** The receiver at an `https` address; the same object for the same address. */
  readonly receiver: (url: string) => TestReceiver
  /** Starts a named journey through all five areas, before its first step. */
  readonly journey: (name: JourneyName, options?: StartJourneyOptions) => Journey
  readonly now: () => Date
  /** Advances the clock, and runs everything that becomes due, in order of time. */
  readonly advance: (span: TimeSpan) => Promise<void>
  /** The same up to a time. A past time changes nothing. */
  readonly advanceTo: (moment: Date | string) => Promise<void>
  /** Stops the worker. Can be called repeatedly. */
  readonly stop: () => Promise<void>
}

/**
 * Starts the service with a tenant, a signing secret and a running worker. No port is opened and no timer is set, so a test's
 * process ends by itself.
 */
export const startTestWaybill = async (options: StartOptions = {}): Promise<StartedTestWaybill> => {
  const { tenantId = "acme" } = options
  const service = await openService(options)
  const secrets = new Set<string>()
  const seeded = await service.run(seed(tenantId))
  secrets.add(seeded.secret)
  const { clock, run } = service
  const customer = (client: string, accounts: ReadonlyArray<string>): Caller => ({ tenantId, client, roles: ["customer"], accounts })

  const waybill: StartedTestWaybill = {
    tenantId,
    ...seeded,
    carrier: { tenantId, client: "carrier", roles: ["carrier"] },
    shipper: customer("shipper", ["A-1"]),
    customer,
    ...shipmentStatusCallsOf(run),
    ...invoiceCallsOf(run),
    ...pickupCallsOf(run),
    ...transitEventCallsOf(run),
    ...freightChargeCallsOf(run),
    ...operatorCallsOf(run, (secret) => void secrets.add(secret)),
    receiver: await service.receivers(secrets),
    journey: (name, journeyOptions) => startJourney(waybill, name, journeyOptions),
    now: () => new Date(clock.currentTimeMillisUnsafe()),
    advance: async (span) => service.advanceTo(clock.currentTimeMillisUnsafe() + millisOf(span)),
    advanceTo: async (moment) => service.advanceTo(instantOf(moment)),
    stop: () => service.stop()
  }
  return waybill
}

/** The default initial time: a Friday morning in Chicago. */
const defaultStart = "2026-11-20T14:00:00Z"

const instantOf = (moment: Date | string): number => {
  const millis = new Date(moment).getTime()
  if (Number.isNaN(millis)) throw new RangeError(`${JSON.stringify(moment)} is no moment. Give a Date, or RFC 3339 such as ${defaultStart}.`)
  return millis
}

const seed = (tenantId: string) =>
  Effect.gen(function*() {
    yield* (yield* Tenants).put(tenantId, { name: `Tenant ${tenantId}` })
    const { hmacSecretId, secret } = yield* (yield* SigningSecrets).put(tenantId, "main", { anyClient: true })
    return { hmacSecretId, secret: Redacted.value(secret) }
  })

interface OpenService {
  readonly clock: VirtualClock
  readonly run: Run
  readonly advanceTo: (until: number) => Promise<void>
  readonly receivers: (secrets: Iterable<string>) => Promise<(url: string) => TestReceiver>
  readonly stop: () => Promise<void>
}

const openService = async (options: StartOptions): Promise<OpenService> => {
  const clock = makeVirtualClock(instantOf(options.now ?? defaultStart))
  const scope = Scope.makeUnsafe()
  const context = await buildContext(options, clock, scope)
  const workers = Effect.runForkWith(context)(background)
  const awaited = new Set<Promise<unknown>>()
  let stopped: Promise<void> | undefined

  const settle = async (): Promise<void> => {
    await Effect.runPromiseWith(context)(TestWaybill.quiet)
    while (awaited.size > 0) {
      await Promise.all(awaited)
      await Effect.runPromiseWith(context)(TestWaybill.quiet)
    }
    const ended = workers.pollUnsafe()
    if (stopped === undefined && ended !== undefined && Exit.isFailure(ended)) throw Cause.squash(ended.cause)
  }

  const run = async <A, E>(effect: Effect.Effect<A, E, TestServices>): Promise<A> => {
    if (stopped !== undefined) throw new Error("This service was stopped. Start another one with startTestWaybill().")
    // a handler under test may call the service, which must not wait for that handler
    const withinHandler = awaited.size > 0
    const exit = await Effect.runPromiseExitWith(context)(effect)
    if (!withinHandler) await settle()
    if (Exit.isSuccess(exit)) return exit.value
    throw Cause.squash(exit.cause)
  }

  const end = async (): Promise<void> => {
    const ended = Effect.runPromiseWith(context)(Fiber.interrupt(workers))
    await settle()
    // stopping waits for attempts in flight, which wait for the clock
    await clock.turnTo(clock.currentTimeMillisUnsafe() + 3_600_000, settle)
    await ended
    await Effect.runPromiseWith(context)(Scope.close(scope, Exit.void))
  }

  return {
    clock,
    run,
    advanceTo: (until) => clock.turnTo(until, settle),
    receivers: async (secrets) => {
      const around = { now: () => clock.currentTimeMillisUnsafe(), secrets, await: (work: Promise<unknown>) => holdWhile(awaited, work) }
      return makeReceivers(context, around)
    },
    stop: () => stopped ??= end()
  }
}

const holdWhile = (awaited: Set<Promise<unknown>>, work: Promise<unknown>): void => {
  awaited.add(work)
  void work.finally(() => awaited.delete(work))
}

const buildContext = async (options: StartOptions, clock: VirtualClock, scope: Scope.Scope): Promise<Context.Context<TestServices>> => {
  const random = Effect.runSync(Random.withSeed(Effect.map(Effect.context<never>(), (context) => Context.get(context, Random.Random)), options.seed ?? "waybill"))
  const { delivery, timeZone } = options
  const layer = TestWaybill.layer({ ...(delivery === undefined ? {} : { delivery }), ...(timeZone === undefined ? {} : { timeZone }) })
  // the worker's log lines about faulty receivers are expected in tests
  const quiet = Logger.layer([])
  const surroundings = Layer.mergeAll(Layer.succeed(Clock.Clock, clock), Layer.succeed(Random.Random, random), Layer.succeed(Scheduler, realScheduler), quiet)
  return Effect.runPromise(Layer.buildWithScope(Layer.provideMerge(layer, surroundings), scope), { scheduler: realScheduler })
}

/** Full hours and midnights of every time zone are full quarter hours in UTC. */
const quarterMillis = 900_000

/** All background work. */
const background = Effect.gen(function*() {
  const worker = yield* DeliveryWorker
  const windows = yield* ChargeWindows
  // close exactly on time instead of polling: polling a month of virtual minutes would take seconds
  const closing = Effect.forever(
    Effect.andThen(Effect.orDie(windows.closeDue), Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.sleep(quarterMillis - now % quarterMillis)))
  )
  yield* Effect.all([worker.run, closing], { concurrency: "unbounded", discard: true })
})

const makeReceivers = async (context: Context.Context<TestServices>, around: Parameters<typeof makeTestReceiver>[1]): Promise<(url: string) => TestReceiver> => {
  const known = new Map<string, ReturnType<typeof makeTestReceiver>>()
  const at = (url: string) => {
    const found = known.get(url) ?? makeTestReceiver(url, around)
    known.set(url, found)
    return found
  }
  await Effect.runPromiseWith(context)(Context.get(context, ScriptedReceivers).scriptOthers((request) => at(request.url).behaviour(request)))
  return (url) => {
    if (!URL.canParse(url) || !url.startsWith("https://")) throw new TypeError(`${url} is no address of a receiver. Give one that starts with https://.`)
    return at(url).receiver
  }
}
