import { it } from "@effect/vitest"
import { DeliveryQueue } from "@waybill/core"
import { Receiver, TestWaybill } from "@waybill/testkit"
import { Effect } from "effect"
import { eventsOf, hook, inEngine, makeEngine } from "./Engine.ts"
for (let i = 0; i < 40; i++) it.effect("dbg" + i, () =>
    inEngine(Effect.gen(function*() {
      const engine = yield* makeEngine({ policy: { batchMaxSize: 2, maxAttempts: 1000, initialBackoffSeconds: 1, maxBackoffSeconds: 3 } })
      let n = 0
      yield* engine.receivers.script(hook, (request) => (n++ * 7) % 3 === 0 ? Receiver.fail(500)(request) : Receiver.delay(n % 5 * 300)(request))
      yield* TestWaybill.run
      for (let round = 0; round < 10; round++) {
        yield* engine.publish("A", "B", "C", "A", "D")
        yield* TestWaybill.pass(round * 100)
      }
      yield* TestWaybill.pass("1 hour")
      const q = yield* DeliveryQueue
      const d = yield* engine.delivered()
      if (d.length !== 50) {
      console.log(d.length, new Set(d).size, d.join(" "))
      console.log(yield* q.tenantsDue(10), yield* q.depth, JSON.stringify((yield* engine.list()).filter(d => d.state !== "delivered")))
      const r = (yield* engine.receivers.requests())
      console.log(r.length, r.slice(-12).map((x) => [x.at, eventsOf(x).join(",")]))
      }
    })))
