/** A carrier that reports, a customer that is told: the service at work, for whoever starts it to have a look. */
import { IntakeClient } from "@waybill/client"
import { WebhookSender } from "@waybill/core"
import { type EgressPolicy, WebhookSenderHttp } from "@waybill/http"
import { Cause, Console, Context, Effect, Layer, Schedule } from "effect"
import * as Clock from "effect/Clock"
import { IpNetwork } from "effect/net"
import { join } from "node:path"
import { operatorKeyFile } from "../config/DataDir.ts"
import type { ServerConfig } from "../config/ServerConfig.ts"
import { shortPath } from "../serve/Banner.ts"
import { journeyFrom, type Scene } from "./DemoJourney.ts"
import { seedDemo } from "./DemoSeed.ts"
import type { DemoState } from "./DemoState.ts"

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

/** Seeds, says hello, and plays; all in the background, so that trouble of the demo is none of the service. */
export const startDemo = Effect.fnUntraced(function*(options: {
  readonly config: ServerConfig
  readonly state: DemoState
  readonly url: string
}) {
  const { config, state, url } = options
  const carrier = new IntakeClient({ baseUrl: url, apiKey: () => state.kept().carrierKey! })
  const seeded = Effect.retry(seedDemo(state), { while: (error) => error._tag === "StorageError", schedule: Schedule.spaced("1 second") })
  yield* seeded.pipe(
    Effect.andThen(Effect.suspend(() => Console.log(banner(config, state, url)))),
    Effect.andThen(play(state, carrier)),
    Effect.catchCause((cause) => Cause.hasInterruptsOnly(cause) ? Effect.void : Effect.logError("The demo ended.", cause)),
    Effect.forkScoped
  )
})

const banner = (config: ServerConfig, state: DemoState, url: string): string => [
  "",
  `  Waybill answers on ${url}  (docs: ${url}/docs)`,
  "",
  `  Demo: a carrier reports an event every two seconds, and a customer's receiver gets it as a signed webhook.`,
  `  The customer's API key: ${state.kept().customerKey}`,
  "",
  `  Try this in another terminal:`,
  "",
  `  ${state.curl(url)}`,
  "",
  ...(config.operatorKey === undefined ? [`  The operator key is in ${shortPath(join(config.dataDir, operatorKeyFile))}`, ""] : [])
].join("\n")

/** A journey takes 54 seconds. After these many the demo has shown itself, and goes on at a pace that fills no disk. */
const livelyJourneys = 20
const livelyPauseMillis = 6_000
const quietPauseMillis = 15 * 60_000

const play = Effect.fnUntraced(function*(state: DemoState, carrier: IntakeClient) {
  for (let played = 0;; played++) {
    const before = played === 0 ? state.kept().journey : undefined
    const startedAt = before ?? (yield* Clock.currentTimeMillis)
    if (before === undefined) {
      yield* state.keep({ journey: startedAt }).pipe(Effect.catch((error) => Effect.logWarning(error.message)))
    }
    yield* playJourney(journeyFrom(startedAt), carrier)
    // one that was under way at the last stop has just been brought to its end
    if (before === undefined) yield* Effect.sleep(played < livelyJourneys ? livelyPauseMillis : quietPauseMillis)
  }
})

/** Publishes what is due, waits for the next, and so on to the end. Publishing again what was published changes nothing. */
const playJourney = Effect.fnUntraced(function*(scenes: ReadonlyArray<Scene>, carrier: IntakeClient) {
  let next = 0
  let told = false
  while (next < scenes.length) {
    const now = yield* Clock.currentTimeMillis
    const due = scenes.slice(next).filter((scene) => scene.at <= now)
    if (due.length === 0) {
      yield* Effect.sleep(scenes[next]!.at - now)
      continue
    }
    const published = yield* Effect.tryPromise((signal) => carrier.publishTransitEvents(due.map((scene) => scene.event), { signal })).pipe(Effect.option)
    if (published._tag === "Some") {
      next += due.length
      told = false
      continue
    }
    if (!told) yield* Effect.logWarning("The demo could not report an event and tries again until it can.")
    told = true
    yield* Effect.sleep(2_000)
  }
})
