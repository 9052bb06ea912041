/** The whole service in memory for any test runner: the object of `createWaybill`, a virtual clock, receivers without a port. */
import { checkOptions, CustomerPortal, type OptionKinds, optionKinds, TenantRemoval } from "@waybill/core"
import { DeliveryWorker, type DeliveryOptionValues, SigningSecrets } from "@waybill/core/delivery"
import { ChargeWindows } from "@waybill/core/freight-charges"
import { type HostPickupDesk, type HostPrincipal, httpOptionKinds, pickupDeskLayer, publicOnly, refusalOfUrl, type WaitingPickupDesk, type Waybill, waybillOver, type WaybillOverOptions } from "@waybill/http"
import { Cause, Clock, Context, Effect, Exit, Layer, Random, Redacted, Scope } from "effect"
import { Scheduler } from "effect/Scheduler"
import { ScriptedReceivers } from "../delivery/WebhookSenderScripted.ts"
import type { JourneyName } from "../journeys/Journeys.ts"
import { JourneyNumbers } from "../journeys/JourneyNumbers.ts"
import { checkJourney, type Journey, type StartJourneyOptions, startJourney } from "../journeys/startJourney.ts"
import { entryIn } from "../shared/EntryIn.ts"
import { realScheduler } from "../shared/RealScheduler.ts"
import { HostTransactions, type TestClient } from "../shared/TestClient.ts"
import { TestWaybill } from "../TestWaybill.ts"
import { makeTestReceiver, type TestReceiver } from "./TestReceiver.ts"
import { millisOf, type TimeSpan } from "./TimeSpan.ts"
import { makeVirtualClock, type VirtualClock } from "./VirtualClock.ts"

/** The options of `createWaybill` about HTTP apply to the handlers. */
export interface StartOptions extends Omit<WaybillOverOptions, "background" | "joined" | "layer"> {
  /** The initial tenant; `acme` by default. */
  readonly tenantId?: string
  /** The initial time; 2026-11-20T14:00:00Z by default. */
  readonly now?: Date | string
  /** The time zone whose hours and midnights close charge windows; UTC by default. */
  readonly timeZone?: string
  /** Settings of the delivery worker, such as `attemptTimeoutMillis`. */
  readonly delivery?: Partial<DeliveryOptionValues>
  /** Decides on pickups. Its transaction is the client given to `within`, or a new `testClient()`. */
  readonly pickupDesk?: HostPickupDesk<TestClient> | WaitingPickupDesk
  /** Seed of random values such as the jitter of retries. */
  readonly seed?: string
}

/**
 * The object of `createWaybill`, for code that takes a `Waybill`. Every call resolves after the deliveries that it made due. `within`
 * takes clients of `testClient`.
 */
export interface StartedTestWaybill extends Waybill<object> {
  readonly tenantId: string
  /** Writes through intake, and sees all of the tenant. */
  readonly carrier: HostPrincipal
  /** A customer with account `A-1`. */
  readonly shipper: HostPrincipal
  /** Any further customer. */
  readonly customer: (client: string, accounts: ReadonlyArray<string>) => HostPrincipal
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
  /** The same up to a time. Throws a `RangeError` for a past time. */
  readonly advanceTo: (moment: Date | string) => Promise<void>
}

const { any, function: callback, object, text } = optionKinds

const kinds: OptionKinds<StartOptions> = {
  tenantId: text,
  // read by Date
  now: any,
  timeZone: text,
  delivery: object,
  pickupDesk: { what: "a function, an object with decide, or { waitSeconds }", accepts: (value) => callback.accepts(value) || object.accepts(value) },
  seed: text,
  log: callback,
  ...httpOptionKinds
}

/**
 * Starts the service with a tenant, a signing secret and a running worker. No port is opened and no timer is set, so a test's
 * process ends by itself.
 */
export const startTestWaybill = async (options: StartOptions = {}): Promise<StartedTestWaybill> => {
  checkOptions("startTestWaybill", options, kinds)
  const { tenantId = "acme" } = options
  const service = await openService(options)
  const { hmacSecretId, secret } = await service.run(TestWaybill.tenant(tenantId))
  const { clock, facade } = service
  const customer = (client: string, accounts: ReadonlyArray<string>): HostPrincipal => ({ tenantId, client, roles: ["customer"], accounts })
  const numbers = new JourneyNumbers()

  const waybill: StartedTestWaybill = {
    ...facade,
    tenantId,
    hmacSecretId,
    secret,
    carrier: { tenantId, client: "carrier", roles: ["carrier"] },
    shipper: customer("shipper", ["A-1"]),
    customer,
    receiver: await service.receivers(),
    journey: (name, journeyOptions = {}) => {
      checkJourney(journeyOptions)
      const numbered = numbers.completed(journeyOptions)
      const journey = startJourney(waybill, name, numbered)
      numbers.take(numbered)
      return journey
    },
    now: () => new Date(clock.currentTimeMillisUnsafe()),
    advance: async (span) => service.advanceTo(clock.currentTimeMillisUnsafe() + millisOf(span)),
    advanceTo: async (moment) => {
      const [now, until] = [clock.currentTimeMillisUnsafe(), instantOf(moment)]
      if (until < now) throw new RangeError(`The clock is at ${new Date(now).toISOString()} and cannot go back to ${new Date(until).toISOString()}.`)
      await service.advanceTo(until)
    }
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

/** All services of the service in memory. */
type TestServices = Layer.Success<ReturnType<typeof TestWaybill.layer>>

interface OpenService {
  readonly clock: VirtualClock
  readonly facade: Waybill<object>
  readonly run: <A>(effect: Effect.Effect<A, unknown, TestServices>) => Promise<A>
  readonly advanceTo: (until: number) => Promise<void>
  readonly receivers: () => Promise<(url: string) => TestReceiver>
}

const openService = async (options: StartOptions): Promise<OpenService> => {
  const clock = makeVirtualClock(instantOf(options.now ?? defaultStart))
  const scope = Scope.makeUnsafe()
  const secrets = new Set<string>()
  const context = withSecretsKept(await buildContext(options, clock, scope), secrets)
  const run = Effect.runPromiseWith(context)
  const awaited = new Set<Promise<unknown>>()
  let failed: Cause.Cause<never> | undefined
  let stopped: Promise<void> | undefined

  const settle = async (): Promise<void> => {
    await run(TestWaybill.quiet)
    while (awaited.size > 0) {
      await Promise.all(awaited)
      await run(TestWaybill.quiet)
    }
    if (stopped === undefined && failed !== undefined) throw Cause.squash(failed)
  }

  const { delivery: _, now: __, pickupDesk: ___, seed: ____, tenantId: _____, timeZone: ______, ...served } = options
  const { stop, ...facade } = waybillOver<object>({
    log: () => {},
    ...served,
    layer: Layer.succeedContext(context),
    joined: HostTransactions.joined,
    background: Effect.onError(background, (cause) => Effect.sync(() => void (failed = cause)))
  })
  await facade.start()
  Context.get(context, HostTransactions).afterEnd(settle)

  const end = async (): Promise<void> => {
    await run(Context.get(context, HostTransactions).abandon)
    const ended = stop()
    await settle()
    // stopping waits for attempts in flight, which wait for the clock
    await clock.turnTo(clock.currentTimeMillisUnsafe() + 3_600_000, settle)
    await ended
    await run(Scope.close(scope, Exit.void))
  }

  // a handler under test may call the service, which must not wait for that handler
  const settled = settledBy(() => awaited.size === 0 ? settle : async () => {})
  return {
    clock,
    facade: { ...settled(facade), within: (client) => settled(facade.within(client)), stop: () => stopped ??= end() },
    run,
    advanceTo: (until) => clock.turnTo(until, settle),
    receivers: () => makeReceivers(context, { now: () => clock.currentTimeMillisUnsafe(), secrets, await: (work) => holdWhile(awaited, work) })
  }
}

type Method = (...given: ReadonlyArray<never>) => Promise<unknown>

/** Wraps methods, alone or in groups: each ends with the work that `begin` returned. */
const settledBy = (begin: () => () => Promise<void>) => <M extends object>(methods: M): M => {
  const settled = (method: Method): Method => async (...given) => {
    const settle = begin()
    try {
      return await method(...given)
    } finally {
      await settle()
    }
  }
  const wrapped = (member: unknown): unknown => {
    if (typeof member === "function") return settled(member as Method)
    return Object.fromEntries(Object.entries(member as object).map(([name, each]) => [name, wrapped(each)]))
  }
  return wrapped(methods) as M
}

/** Keeps every secret, however it is registered, so that receivers can check signatures. */
const withSecretsKept = (context: Context.Context<TestServices>, secrets: Set<string>): Context.Context<TestServices> => {
  const registry = Context.get(context, SigningSecrets)
  const portal = Context.get(context, CustomerPortal)
  const kept = <A extends { readonly secret: Redacted.Redacted }, E>(made: Effect.Effect<A, E>) =>
    Effect.tap(made, ({ secret }) => Effect.sync(() => void secrets.add(Redacted.value(secret))))
  return context.pipe(
    Context.add(SigningSecrets, SigningSecrets.of({ ...registry, put: (...given) => kept(registry.put(...given)) })),
    Context.add(CustomerPortal, CustomerPortal.of({ ...portal, rotateSecret: (...given) => kept(portal.rotateSecret(...given)) }))
  )
}

const holdWhile = (awaited: Set<Promise<unknown>>, work: Promise<unknown>): void => {
  awaited.add(work)
  void work.finally(() => awaited.delete(work))
}

const buildContext = async (options: StartOptions, clock: VirtualClock, scope: Scope.Scope): Promise<Context.Context<TestServices>> => {
  const random = Effect.runSync(Random.withSeed(Effect.map(Effect.context<never>(), (context) => Context.get(context, Random.Random)), options.seed ?? "waybill"))
  const { delivery, pickupDesk, timeZone } = options
  const layer = TestWaybill.layer({ delivery: { leaseMillis, ...delivery }, ...(timeZone === undefined ? {} : { timeZone }) })
  const surroundings = Layer.mergeAll(
    Layer.succeed(Clock.Clock, clock),
    Layer.succeed(Random.Random, random),
    Layer.succeed(Scheduler, realScheduler),
    // the transaction that it gets is a test client, whose type it has
    pickupDesk === undefined ? Layer.empty : pickupDeskLayer(pickupDesk as HostPickupDesk | WaitingPickupDesk)
  )
  return Effect.runPromise(Layer.buildWithScope(Layer.provideMerge(layer, surroundings), scope), { scheduler: realScheduler })
}

/** The longest there is. The only worker has no one to take over from it, and renewing leases through a month of virtual time would take seconds. */
const leaseMillis = 2 ** 31 - 1

/** Full hours and midnights of every time zone are full quarter hours in UTC. */
const quarterMillis = 900_000

/** Delivers, closes charge windows and removes deleted tenants. */
const background = Effect.gen(function*() {
  const worker = yield* DeliveryWorker
  const windows = yield* ChargeWindows
  const removal = yield* TenantRemoval
  // close exactly on time instead of polling: polling a month of virtual minutes would take seconds
  const closing = Effect.forever(
    Effect.andThen(Effect.orDie(Effect.andThen(windows.closeDue, removal.sweep)), Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.sleep(quarterMillis - now % quarterMillis)))
  )
  yield* Effect.all([worker.run, closing], { concurrency: "unbounded", discard: true })
})

const makeReceivers = async (context: Context.Context<TestServices>, around: Parameters<typeof makeTestReceiver>[1]): Promise<(url: string) => TestReceiver> => {
  const known = new Map<string, ReturnType<typeof makeTestReceiver>>()
  const at = (url: string) => entryIn(known, url, () => makeTestReceiver(url, around))
  await Effect.runPromiseWith(context)(Context.get(context, ScriptedReceivers).scriptOthers((request) => at(request.url).behaviour(request)))
  return (url) => {
    const refusal = typeof url === "string" ? refusalOfUrl(url, publicOnly) : "Give a text such as https://customer.example/hooks."
    if (refusal !== undefined) throw new TypeError(`${String(url)} is no address of a receiver. ${refusal}`)
    return at(url).receiver
  }
}
