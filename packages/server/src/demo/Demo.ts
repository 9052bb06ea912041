/** The demo: a simulated carrier and customer that show a running service. */
import { type Principal, WebhookSender } from "@waybill/core"
import { type EgressPolicy, WebhookSenderHttp } from "@waybill/http"
import { Cause, Console, Context, Effect, Layer, Schedule } from "effect"
import * as Clock from "effect/Clock"
import { IpNetwork } from "effect/net"
import { join } from "node:path"
import { operatorKeyFile } from "../config/DataDir.ts"
import type { ServerConfig } from "../config/ServerConfig.ts"
import { hasDashboard, shortPath } from "../serve/Banner.ts"
import { demoCommands } from "./DemoCommands.ts"
import { journeyFrom, journeyMillis, type Scene, together } from "./DemoJourney.ts"
import { finishedJourney, followCharges, followStatuses, seedDemo } from "./DemoSeed.ts"
import type { DemoState } from "./DemoState.ts"
import { type DemoWriters, demoWriters } from "./DemoWriters.ts"

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
        send: (request) => request.url === demoUrl ? toDemo.send(request) : sender.send(request),
        refusal: (url) => url === demoUrl ? undefined : sender.refusal(url)
      })
    })
  )
}

interface Stage {
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
export const startDemo = Effect.fnUntraced(function*(stage: Stage) {
  yield* Effect.flatMap(retryStorage(seedDemo(stage.state)), (customer) => play(stage, customer)).pipe(
    Effect.catchCause((cause) => Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logError("Demo failed.", cause)),
    Effect.forkScoped
  )
})

/** Retries while the storage is unavailable. */
const retryStorage = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.retry(effect, { while: (error) => error._tag === "StorageError", schedule: Schedule.spaced("1 second") })

const banner = ({ adminUrl, config, state, url }: Stage): string => [
  "",
  `  Waybill answers on ${url}  (docs: ${adminUrl}/docs)`,
  "",
  "  Demo: a shipper orders trucks for three shipments, and their carrier posts what happens to them, an event every two",
  "  seconds. Their status follows by itself, their bills change on the way, and a receiver of the shipper's gets all of it",
  "  as signed webhooks. In the end the carrier sends its invoices, with proofs of delivery.",
  `  The customer's API key: ${state.kept().customerKey}`,
  ...(hasDashboard(config) ? [`  The dashboard, with the operator key: ${adminUrl}/dashboard`] : []),
  "",
  "  Try these in another terminal:",
  "",
  ...demoCommands(state, config, url).flatMap(({ command, shows }) => [`  # ${shows}`, `  ${command}`, ""]),
  ...(config.operatorKeys === undefined ? [`  The operator key is in ${shortPath(join(config.dataDir, operatorKeyFile))}`, ""] : [])
].join("\n")

/** A journey takes about 50 seconds. After this many journeys the demo slows down, so that it does not fill the disk. */
const livelyJourneys = 20
const livelyPauseMillis = 6_000
const quietPauseMillis = 15 * 60_000

/** A journey is resumed only within this time, because its pickup orders expire. */
const longestBreakMillis = 3_600_000

/**
 * Start time of the first journey: an interrupted one is resumed. If none was ever finished, a journey that is already
 * over, so that there are invoices to see.
 */
const firstJourney = (now: number, startedAt: number | undefined, finishedAt: number | undefined): number => {
  if (finishedAt !== undefined && startedAt !== undefined) return startedAt === finishedAt ? now : startedAt
  const over = now - journeyMillis
  return startedAt !== undefined && startedAt <= over && startedAt > now - longestBreakMillis ? startedAt : over
}

const keysOf = (state: DemoState) => ({ carrierKey: () => state.kept().carrierKey!, shipperKey: () => state.kept().shipperKey! })

const play = Effect.fnUntraced(function*(stage: Stage, customer: Principal) {
  const { config: { basePaths }, state, url } = stage
  const writers = demoWriters({ url, basePaths, ...keysOf(state), print: (line) => void process.stdout.write(`${line}\n`) })
  let greeted = false
  const afterOpening = Effect.fnUntraced(function*() {
    // Only after the opening, so that there are bills in flight.
    yield* retryStorage(followCharges(state, customer))
    if (greeted) return
    greeted = true
    yield* Console.log(banner(stage))
  })
  const finishedAt = yield* retryStorage(finishedJourney(state, customer))
  for (let played = 0;; played++) {
    const now = yield* Clock.currentTimeMillis
    const startedAt = played === 0 ? firstJourney(now, state.kept().startedAt, finishedAt) : now
    yield* state.keep({ startedAt })
    const isOver = startedAt + journeyMillis <= now
    if (!isOver) yield* retryStorage(followStatuses(state, customer, startedAt))
    const finished = yield* playJourney(journeyFrom(startedAt), writers, isOver ? Effect.void : afterOpening())
    if (finished) yield* state.keep({ finishedAt: startedAt })
    // No pause after the first journey, because it may have been resumed near its end.
    if (played > 0) yield* Effect.sleep(played < livelyJourneys ? livelyPauseMillis : quietPauseMillis)
  }
})

/** Writes due scenes until the journey ends; returns whether it was finished. Writing a scene again changes nothing. */
const playJourney = Effect.fnUntraced(function*<E, R>(scenes: ReadonlyArray<Scene>, writers: DemoWriters, afterOpening: Effect.Effect<void, E, R>) {
  let next = 0
  let warned = false
  while (next < scenes.length) {
    const now = yield* Clock.currentTimeMillis
    const due = scenes.slice(next).filter((scene) => scene.at <= now)
    if (due.length === 0) {
      yield* Effect.sleep(scenes[next]!.at - now)
      continue
    }
    const failed = yield* Effect.match(writers.write(together(now, due)), { onSuccess: () => undefined, onFailure: (error) => error })
    if (failed?.final === true) {
      yield* Effect.logWarning(`Demo journey failed: ${failed.detail}`)
      return false
    }
    if (failed !== undefined) {
      if (!warned) yield* Effect.logWarning(`Demo write failed, retrying: ${failed.detail}`)
      warned = true
      yield* Effect.sleep(2_000)
      continue
    }
    warned = false
    const opened = next === 0
    next += due.length
    if (opened) yield* afterOpening
  }
  return true
})
