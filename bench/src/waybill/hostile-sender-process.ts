/** Only the sender, with hostile receivers. Needs `--expose-gc`. */
import { type AttemptOutcome, sendWebhook, WebhookSender } from "@waybill/core/delivery"
import { parseEgressAllow, WebhookSenderHttp } from "@waybill/http"
import { Effect, ManagedRuntime, Result } from "effect"
import { setImmediate as turn } from "node:timers/promises"
import { serve } from "../machine/Child.ts"

const [ca] = process.argv.slice(2)
const runtime = ManagedRuntime.make(WebhookSenderHttp.layer({ egress: Result.getOrThrow(parseEgressAllow("127.0.0.0/8")), ca: [ca!] }))
const sender = await runtime.runPromise(Effect.map(WebhookSender, (sender) => sender))

const body = [new Uint8Array(1024).fill(0x20)]
const deadlineMillis = 2000

/** Resident memory after a full garbage collection. */
const settled = async (): Promise<number> => {
  for (let n = 0; n < 5; n++) {
    globalThis.gc!()
    await turn()
  }
  return process.memoryUsage.rss()
}

interface Ended {
  readonly url: string
  readonly outcome: AttemptOutcome["_tag"]
  readonly millis: number
}

const attempt = async (url: string): Promise<Ended> => {
  const began = performance.now()
  const { _tag } = await runtime.runPromise(sendWebhook(sender, { owner: "bench", url, headers: { "content-type": "application/json" }, body, deadlineMillis }))
  return { url, outcome: _tag, millis: performance.now() - began }
}

const handlers = {
  /** Warms up with the same number of concurrent attempts, twice. */
  warm: async (urls: ReadonlyArray<string>) => {
    for (let n = 0; n < 2; n++) await Promise.all(urls.map(attempt))
  },
  /** Runs all attempts at once. Returns the delay of the latest one after its deadline, and the growth of memory. */
  attemptAll: async (urls: ReadonlyArray<string>) => {
    const before = await settled()
    let most = 0
    const look = setInterval(() => most = Math.max(most, process.memoryUsage.rss()), 2)
    const ended = await Promise.all(urls.map(attempt))
    most = Math.max(most, process.memoryUsage.rss())
    clearInterval(look)
    const latest = ended.reduce((a, b) => a.millis >= b.millis ? a : b)
    return {
      overMillis: latest.millis - deadlineMillis,
      latest: latest.url.replace(/^.*\//, ""),
      interrupted: ended.filter(({ outcome }) => outcome === "Interrupted").length,
      mostBytes: most - before,
      leftBytes: await settled() - before
    }
  }
}

export type HostileSenderHandlers = typeof handlers

serve(handlers, () => runtime.dispose())
