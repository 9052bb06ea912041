/** A carrier that reports, a customer that is told: the service at work, for whoever starts it to have a look. */
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

/** The sender, which with the demo on may also reach the demo's receiver: exactly that address, and nothing beside it. */
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
  /** Where the operator's part is. */
  readonly adminUrl: string
}

/** Seeds, plays, and says hello once there is something to see; all in the background, so that trouble of the demo is none of the service. */
export const startDemo = Effect.fnUntraced(function*(stage: Stage) {
  yield* Effect.flatMap(patiently(seedDemo(stage.state)), (customer) => play(stage, customer)).pipe(
    Effect.catchCause((cause) => Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logError("Demo failed.", cause)),
    Effect.forkScoped
  )
})

/** Waits for a storage that is not there. */
const patiently = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
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

/** A journey takes about 50 seconds. After these many the demo has shown itself, and goes on at a pace that fills no disk. */
const livelyJourneys = 20
const livelyPauseMillis = 6_000
const quietPauseMillis = 15 * 60_000

/** Taken up again only as long as its orders would still be taken. */
const longestBreakMillis = 3_600_000

/**
 * When the journey began that comes first after a start: what was under way at the last stop. Where nothing was ever finished,
 * one that is over when it begins, so that there are invoices to look at.
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
    // only now, so that there are bills in flight to look at
    yield* patiently(followCharges(state, customer))
    if (greeted) return
    greeted = true
    yield* Console.log(banner(stage))
  })
  const finishedAt = yield* patiently(finishedJourney(state, customer))
  for (let played = 0;; played++) {
    const now = yield* Clock.currentTimeMillis
    const startedAt = played === 0 ? firstJourney(now, state.kept().startedAt, finishedAt) : now
    yield* state.keep({ startedAt })
    const isOver = startedAt + journeyMillis <= now
    if (!isOver) yield* patiently(followStatuses(state, customer, startedAt))
    const finished = yield* playJourney(journeyFrom(startedAt), writers, isOver ? Effect.void : afterOpening())
    if (finished) yield* state.keep({ finishedAt: startedAt })
    // one that was under way at the last stop has just been brought to its end
    if (played > 0) yield* Effect.sleep(played < livelyJourneys ? livelyPauseMillis : quietPauseMillis)
  }
})

/** Writes what is due, waits for the next, and so on; answers whether it came to the end. Writing again what was written changes nothing. */
const playJourney = Effect.fnUntraced(function*<E, R>(scenes: ReadonlyArray<Scene>, writers: DemoWriters, afterOpening: Effect.Effect<void, E, R>) {
  let next = 0
  let told = false
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
      if (!told) yield* Effect.logWarning(`Demo write failed, retrying: ${failed.detail}`)
      told = true
      yield* Effect.sleep(2_000)
      continue
    }
    told = false
    const opened = next === 0
    next += due.length
    if (opened) yield* afterOpening
  }
  return true
})
