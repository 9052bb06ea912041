/** The demo: a simulated carrier and customer that show a running service. */
import type { Principal } from "@waybill/core"
import { WebhookSender } from "@waybill/core/delivery"
import { type EgressPolicy, WebhookSenderHttp } from "@waybill/http"
import { Cause, Console, Context, Effect, Layer, Schedule } from "effect"
import * as Clock from "effect/Clock"
import { IpNetwork } from "effect/net"
import { join } from "node:path"
import { operatorKeyFile } from "../config/DataDir.ts"
import type { ServerConfig } from "../config/ServerConfig.ts"
import { hasDashboard, shortPath } from "../serve/Banner.ts"
import { demoCommands } from "./DemoCommands.ts"
import { journeyFrom, journeyMillis, mergedWrites, type TimedWrites } from "./DemoJourney.ts"
import { openEdiCarrier } from "./DemoEdi.ts"
import { demoTenant, finishedJourney, followCharges, followStatuses, seedDemo } from "./DemoSeed.ts"
import type { DemoState } from "./DemoState.ts"
import { demoWriter } from "./DemoWriters.ts"

/** The webhook sender. In demo mode it may also reach the demo's receiver, at exactly that URL. */
export const demoSenderLayer = (egress: EgressPolicy, demoUrl: string | undefined): Layer.Layer<WebhookSender> => {
  const ordinary = WebhookSenderHttp.layer({ egress })
  if (demoUrl === undefined) return ordinary
  return Layer.effect(
    WebhookSender,
    Effect.gen(function*() {
      const sender = Context.get(yield* Layer.build(Layer.fresh(ordinary)), WebhookSender)
      const loopback = WebhookSenderHttp.layer({ egress: { networks: [IpNetwork.fromStringUnsafe("127.0.0.1/32")], hosts: [] } })
      const toDemo = Context.get(yield* Layer.build(Layer.fresh(loopback)), WebhookSender)
      return WebhookSender.of({
        start: (request, settle) => (request.url === demoUrl ? toDemo : sender).start(request, settle),
        refusal: (url) => url === demoUrl ? undefined : sender.refusal(url)
      })
    })
  )
}

interface DemoRun {
  readonly config: ServerConfig
  readonly state: DemoState
  readonly url: string
  /** URL of the operator API. */
  readonly adminUrl: string
}

/**
 * Seeds and plays the demo, and prints the banner once there is data to see. Runs in the background, so that a failing
 * demo does not affect the service.
 */
export const startDemo = Effect.fnUntraced(function*(run: DemoRun) {
  yield* Effect.flatMap(retryStorage(seedDemo(run.state)), (customer) => runJourneys(run, customer)).pipe(
    Effect.catchCause((cause) => Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logError("Demo failed.", cause)),
    Effect.forkScoped
  )
})

/** Retries while the storage is unavailable. */
const retryStorage = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.retry(effect, { while: (error) => error._tag === "StorageError", schedule: Schedule.spaced("1 second") })

const banner = ({ adminUrl, config, state, url }: DemoRun): string => [
  "",
  `  Waybill answers on ${url}  (docs: ${adminUrl}/docs)`,
  "",
  "  Demo: a shipper orders trucks for three shipments, and their carrier posts what happens to them, an event every two",
  "  seconds. Waybill derives their status from the events, their bills change on the way, and the shipper's receiver gets",
  "  signed webhooks. At the end the carrier sends its invoices, with proofs of delivery.",
  ...(config.demoEdi && config.ediDir !== undefined ? [`  The carrier speaks EDI: its events arrive as 214 in ${shortPath(join(config.ediDir, demoTenant))}, and are acknowledged with 997.`] : []),
  `  The customer's API key: ${state.saved().customerKey}`,
  ...(hasDashboard(config) ? [`  The dashboard, with the operator key: ${adminUrl}/dashboard`] : []),
  "",
  "  Try these in another terminal:",
  "",
  ...demoCommands(state, config, url).flatMap(({ command, shows }) => [`  # ${shows}`, `  ${command}`, ""]),
  ...(config.operatorKeys === undefined ? [`  The operator key is in ${shortPath(join(config.dataDir, operatorKeyFile))}`, ""] : [])
].join("\n")

/** A journey takes about 50 seconds. After this many journeys the demo slows down, so that it does not fill the disk. */
const frequentJourneys = 20
const shortPauseMillis = 6_000
const longPauseMillis = 15 * 60_000

/** A journey is resumed only within this time, because its pickup orders expire. */
const maxInterruptionMillis = 3_600_000

/**
 * Start time of the first journey. An interrupted journey is resumed. If none was ever finished, the first one started so
 * long ago that it is over, so that there are invoices to see.
 */
const firstJourney = (now: number, startedAt: number | undefined, finishedAt: number | undefined): number => {
  if (finishedAt !== undefined && startedAt !== undefined) return startedAt === finishedAt ? now : startedAt
  const over = now - journeyMillis
  return startedAt !== undefined && startedAt <= over && startedAt > now - maxInterruptionMillis ? startedAt : over
}

const keysOf = (state: DemoState) => ({ carrierKey: () => state.saved().carrierKey!, shipperKey: () => state.saved().shipperKey! })

const runJourneys = Effect.fnUntraced(function*(run: DemoRun, customer: Principal) {
  const { config: { basePaths, demoEdi, ediDir }, state, url } = run
  const print = (line: string) => void process.stdout.write(`${line}\n`)
  const publishEvents = demoEdi && ediDir !== undefined ? yield* openEdiCarrier(ediDir, print) : undefined
  const write = demoWriter({ url, basePaths, ...keysOf(state), print, publishEvents })
  let bannerPrinted = false
  const afterFirstWrites = Effect.fnUntraced(function*() {
    // Only after the first writes, so that there are bills in flight.
    yield* retryStorage(followCharges(state, customer))
    if (bannerPrinted) return
    bannerPrinted = true
    yield* Console.log(banner(run))
  })
  const finishedAt = yield* retryStorage(finishedJourney(state, customer))
  for (let played = 0;; played++) {
    const now = yield* Clock.currentTimeMillis
    const startedAt = played === 0 ? firstJourney(now, state.saved().startedAt, finishedAt) : now
    yield* state.save({ startedAt })
    const isOver = startedAt + journeyMillis <= now
    if (!isOver) yield* retryStorage(followStatuses(state, customer, startedAt))
    const finished = yield* playJourney(journeyFrom(startedAt), write, isOver ? Effect.void : afterFirstWrites())
    if (finished) yield* state.save({ finishedAt: startedAt })
    // No pause after the first journey, because it may have been resumed near its end.
    if (played > 0) yield* Effect.sleep(played < frequentJourneys ? shortPauseMillis : longPauseMillis)
  }
})

/** Writes what is due until the journey ends; returns whether it was finished. Every write is idempotent. */
const playJourney = Effect.fnUntraced(function*<E, R>(schedule: ReadonlyArray<TimedWrites>, write: ReturnType<typeof demoWriter>, afterFirstWrites: Effect.Effect<void, E, R>) {
  let next = 0
  let warned = false
  while (next < schedule.length) {
    const now = yield* Clock.currentTimeMillis
    const due = schedule.slice(next).filter((writes) => writes.at <= now)
    if (due.length === 0) {
      yield* Effect.sleep(schedule[next]!.at - now)
      continue
    }
    const failed = yield* Effect.match(write(mergedWrites(now, due)), { onSuccess: () => undefined, onFailure: (error) => error })
    if (failed?.final === true) {
      yield* Effect.logWarning(`Demo journey failed: ${failed.message}`)
      return false
    }
    if (failed !== undefined) {
      if (!warned) yield* Effect.logWarning(`Demo write failed, retrying: ${failed.message}`)
      warned = true
      yield* Effect.sleep(2_000)
      continue
    }
    warned = false
    const isFirst = next === 0
    next += due.length
    if (isFirst) yield* afterFirstWrites
  }
  return true
})
