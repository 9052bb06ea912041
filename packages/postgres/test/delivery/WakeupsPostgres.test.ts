import { Wakeups } from "@waybill/core/delivery"
import { assert, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Schedule } from "effect"
import { freshSchema, testStorage } from "../TestStorage.ts"

/** Another process on the same schema. */
const otherProcess = (schema: string) => Effect.map(Layer.build(Layer.fresh(testStorage(schema, { keep: true }))), (services) => Context.get(services, Wakeups))

it.live("another process gets hints of tenants only while no worker of the sending process serves them alone", Effect.fnUntraced(function*() {
  const schema = freshSchema()
  yield* Effect.gen(function*() {
    const wakeups = yield* Wakeups
    const other = yield* otherProcess(schema)
    const heard = new Set<string>()
    const listening = yield* Effect.forkChild(Effect.forever(Effect.map(other.next, (tenantIds) => tenantIds.forEach((each) => heard.add(each)))))
    const wakeUntilHeard = (tenantId: string, ...others: ReadonlyArray<string>) =>
      Effect.forEach([...others, tenantId], wakeups.wake, { discard: true }).pipe(
        Effect.repeat({ schedule: Schedule.spaced("20 millis"), until: () => heard.has(tenantId) })
      )

    yield* Effect.scoped(Effect.gen(function*() {
      yield* wakeups.serve((tenantId) => Effect.succeed(tenantId === "alone"))
      yield* wakeUntilHeard("shared", "alone")
      yield* wakeUntilHeard("later", "alone")
      assert.deepStrictEqual(heard, new Set(["shared", "later"]))
    }))
    yield* wakeUntilHeard("alone")
    yield* Fiber.interrupt(listening)
  }).pipe(Effect.provide(testStorage(schema)))
}), 30_000)
