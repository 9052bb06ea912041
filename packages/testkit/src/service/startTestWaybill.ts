/** The whole service in memory for any test runner: plain promises, a clock that tests turn, receivers without a port. */
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
  /** The tenant that is there from the start; `acme` by default. */
  readonly tenantId?: string
  /** Where the clock begins; 2026-11-20T14:00:00Z by default. */
  readonly now?: Date | string
  /** Whose hours and midnights close the windows of freight charges; UTC by default. */
  readonly timeZone?: string
  /** Settings of the delivery worker, such as `attemptTimeoutMillis`. */
  readonly delivery?: Partial<DeliveryOptions["Service"]>
  /** What chance decides, such as the jitter of retries, is the same for the same seed. */
  readonly seed?: string
}

/**
 * The service, under the names of `createWaybill`. Every call resolves after what it made due was delivered, and rejects with the
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
  /** The receiver at an `https` address; the same one each time it is asked for. */
  readonly receiver: (url: string) => TestReceiver
  /** Freight that goes a way with a name, through all five areas. Nothing has happened to it yet. */
  readonly journey: (name: JourneyName, options?: StartJourneyOptions) => Journey
  readonly now: () => Date
  /** Lets time go by, and everything happen that is due meanwhile, moment by moment. */
  readonly advance: (span: TimeSpan) => Promise<void>
  /** The same up to a moment. One that is past already changes nothing. */
  readonly advanceTo: (moment: Date | string) => Promise<void>
  /** Ends the worker. Calling it again is fine. */
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

/** Where the clock begins when nobody says it: a Friday morning in Chicago. */
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
    // stopping waits for attempts under way, and those for the clock
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
  // what a faulty receiver makes the worker say is what the test is about, not news
  const quiet = Logger.layer([])
  const surroundings = Layer.mergeAll(Layer.succeed(Clock.Clock, clock), Layer.succeed(Random.Random, random), Layer.succeed(Scheduler, realScheduler), quiet)
  return Effect.runPromise(Layer.buildWithScope(Layer.provideMerge(layer, surroundings), scope), { scheduler: realScheduler })
}

/** Wherever windows close at full hours and midnights, it is a full quarter of an hour in UTC. */
const quarterMillis = 900_000

/** Everything that goes on without being called. */
const background = Effect.gen(function*() {
  const worker = yield* DeliveryWorker
  const windows = yield* ChargeWindows
  // to the moment, and not by polling: a month of virtual minutes would take seconds
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
