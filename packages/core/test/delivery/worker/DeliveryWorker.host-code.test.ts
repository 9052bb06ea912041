/** Loggers and tracers of the host that throw, and a stop while attempts begin: no delivery may stay in flight. */
import { assert, describe, it } from "@effect/vitest"
import { WebhookSender } from "@waybill/core/delivery"
import { TestWaybill } from "@waybill/testkit"
import { Effect, Fiber, Logger, References, Tracer } from "effect"
import { account, hook, inEngine, makeEngine, startEngine, workerOn, workerOver } from "../Engine.ts"

const throwing = (): never => {
  throw new Error("a defect of the host")
}

describe("a logger that throws", () => {
  it.effect("delays what the worker was about to send, and loses nothing", () =>
    inEngine(Effect.scoped(Effect.gen(function*() {
      const engine = yield* makeEngine()
      let ahead = 0
      const worker = workerOver((store) => ({ take: (request) => Effect.map(store.take(request), (taken) => ({ ...taken, now: taken.now + (taken.deliveries.length > 0 ? ahead = 5000 : ahead) })) }))
      const logger = Logger.make(({ message }) => String(message).startsWith("Database clock changed.") ? throwing() : undefined)
      yield* worker.pipe(Effect.provide(Logger.layer([logger])), Effect.provideService(References.MinimumLogLevel, "Warn"))
      yield* TestWaybill.pass("1 second")
      yield* engine.publish("A")
      yield* TestWaybill.pass("5 seconds")
      assert.deepStrictEqual(yield* engine.delivered(), ["A/1"])
    }))))
})

describe("a tracer that throws", () => {
  const failing = (name: "span" | "attribute" | "end") =>
    Tracer.make({
      span: (options) => {
        if (options.kind !== "client") return new Tracer.NativeSpan(options)
        if (name === "span") return throwing()
        return Object.assign(new Tracer.NativeSpan(options), { [name]: throwing })
      }
    })

  for (const name of ["span", "attribute", "end"] as const) {
    it.effect(`at ${name} does not keep a delivery in flight`, () =>
      inEngine(Effect.gen(function*() {
        const engine = yield* startEngine({ policy: { batchMaxSize: 1 } })
        yield* engine.publish("A", "A")
        yield* TestWaybill.pass("1 second")
        assert.deepStrictEqual(yield* engine.delivered(), ["A/1", "A/2"])
        assert.deepStrictEqual((yield* engine.list()).map(({ state }) => state), ["delivered", "delivered"])
      })).pipe(Effect.provideService(Tracer.Tracer, failing(name))))
  }
})

describe("a stop while the attempts of a take begin", () => {
  it.effect("returns those that have not begun, without an attempt", () =>
    inEngine(Effect.scoped(Effect.gen(function*() {
      const engine = yield* makeEngine()
      for (let n = 0; n < 40; n++) {
        yield* TestWaybill.subscribe(engine.tenant, engine.tenant.customer(`client ${n}`, [account]), { endpointUrl: `https://receiver-${n}.example/` })
      }
      const sender = yield* WebhookSender
      let stopped: Fiber.Fiber<void> | undefined
      const stopping: WebhookSender["Service"] = {
        ...sender,
        start: (...asked) => {
          stopped ??= Effect.runFork(Fiber.interrupt(running))
          return sender.start(...asked)
        }
      }
      const worker = yield* Effect.provideService(workerOn(() => ({})), WebhookSender, stopping)
      const running = yield* Effect.forkScoped(worker.run)
      yield* TestWaybill.pass("12 seconds")
      yield* engine.publish("A")
      yield* TestWaybill.pass("12 seconds")
      yield* Fiber.join(stopped!)
      const states = (yield* engine.list()).map(({ attempts, state }) => `${state} ${attempts.length}`)
      assert.deepStrictEqual([...new Set(states)].toSorted(), ["delivered 1", "waiting 0"])
      yield* TestWaybill.run
      yield* TestWaybill.pass("1 second")
      assert.isTrue((yield* engine.list()).every(({ attempts, state }) => state === "delivered" && attempts.length === 1))
      assert.lengthOf(yield* engine.delivered(hook), 1)
    }))))
})
