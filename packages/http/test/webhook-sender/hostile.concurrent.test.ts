import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { existsSync, readdirSync } from "node:fs"
import { sendWebhook, WebhookSender } from "@waybill/core/delivery"
import { hostileBehaviours, startHostileReceiver } from "@waybill/conformance/hostile"
import { assertInert, until, wanted } from "./Hostile.ts"
import { makeReceiver } from "./Receiver.ts"
import { body, loopbackSender, summary } from "./Sending.ts"

/** Sockets of this process, and file descriptors if they can be counted. */
const held = () => ({
  sockets: process.getActiveResourcesInfo().filter((name) => /TCP|TLS|Pipe|GetAddrInfo/.test(name)).length,
  timers: process.getActiveResourcesInfo().filter((name) => name === "Timeout").length,
  descriptors: existsSync("/proc/self/fd") ? readdirSync("/proc/self/fd").length : 0
})

/** Unhandled errors while the scope is open. */
const unhandled = Effect.gen(function*() {
  const errors: Array<unknown> = []
  const note = (error: unknown) => void errors.push(error)
  yield* Effect.acquireRelease(
    Effect.sync(() => process.on("unhandledRejection", note).on("uncaughtExceptionMonitor", note)),
    () => Effect.sync(() => process.off("unhandledRejection", note).off("uncaughtExceptionMonitor", note))
  )
  return errors
})

const deadlineMillis = 1000

const attemptConcurrently = (attempts: number) =>
  Effect.gen(function*() {
    const receiver = yield* Effect.promise(() => startHostileReceiver())
    const healthy = yield* makeReceiver()
    const scope = yield* Scope.make()
    const context = yield* Layer.buildWithScope(loopbackSender({ ca: [receiver.ca] }), scope)
    const sender = Context.get(context, WebhookSender)
    const send = (url: string, deadline: number) => sendWebhook(sender, { owner: "acme", url, headers: {}, body, deadlineMillis: deadline })

    const hostile = Effect.all(
      Array.from({ length: attempts }, (_, n) => {
        const behaviour = hostileBehaviours[n % hostileBehaviours.length]!
        // Receivers that end the attempt get enough time; only the others end by the deadline.
        const deadline = behaviour.ends === "deadline" || behaviour.name === "silent-when-reused" ? deadlineMillis : 30_000
        return Effect.map(send(receiver.url(behaviour.name), deadline), (outcome) => ({ behaviour, outcome }))
      }),
      { concurrency: "unbounded" }
    )
    const beside = Effect.all(Array.from({ length: 100 }, () => send(healthy.url, 30_000)), { concurrency: 10 })
    const [outcomes, accepted] = yield* Effect.all([hostile, beside], { concurrency: 2 })

    assert.lengthOf(outcomes, attempts)
    for (const { behaviour, outcome } of outcomes) {
      assertInert(outcome)
      // Connections may be shared here, so an attempt may see leftovers of the previous one.
      if (behaviour.group !== "reuse" && behaviour.next === undefined) wanted(outcome, behaviour.outcome)
      else assert.notStrictEqual(outcome._tag, "Interrupted")
    }
    assert.deepStrictEqual([...new Set(accepted.map(summary))], ["Accepted 200"])
    assert.strictEqual(receiver.inside.connections(), 0)
    yield* Scope.close(scope, Exit.void)
    yield* Effect.promise(() => receiver.stop())
  })

describe("WebhookSenderHttp under 200 hostile receivers at once", () => {
  it.live("ends every attempt, serves the others, and leaves no socket, timer or descriptor behind", Effect.fnUntraced(function*() {
    const errors = yield* unhandled
    // Warm-up, for everything that is loaded and opened once.
    yield* Effect.scoped(attemptConcurrently(hostileBehaviours.length))
    const before = held()
    yield* Effect.scoped(attemptConcurrently(200))
    yield* until(() => held().sockets <= before.sockets && held().descriptors <= before.descriptors)
    assert.isAtMost(held().timers - before.timers, 5)
    assert.deepStrictEqual(errors, [])
  }), 120_000)
})
