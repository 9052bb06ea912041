import { assert, describe, it } from "@effect/vitest"
import { Backlogs, Clients, DeferredStatuses, deliverOnce, EndpointNotices, MailOutbox, maintainOnce, Retention, runBackground, StorageError, TenantRemoval } from "@waybill/core"
import { DeliveryWorker } from "@waybill/core/delivery"
import { ChargeWindows } from "@waybill/core/freight-charges"
import { Effect, Fiber, Layer, Logger, Ref } from "effect"
import { TestClock } from "effect/testing"

describe("background work", () => {
  it.effect("restarts each task separately after a defect, and ends when interrupted", Effect.fnUntraced(function*() {
    const starts = yield* Ref.make<ReadonlyArray<string>>([])
    const started = (name: string) => Ref.update(starts, (before) => [...before, name])
    const lives = (name: string) => Effect.andThen(started(name), Effect.never)
    const services = Layer.mergeAll(
      Layer.mock(DeliveryWorker, { run: lives("worker") }),
      Layer.succeed(ChargeWindows, ChargeWindows.of({ run: Effect.andThen(started("windows"), Effect.die("a defect")), closeDue: Effect.succeed(0) })),
      Layer.succeed(Retention, Retention.of({ run: lives("retention"), sweep: Effect.succeed(0) })),
      Layer.mock(Backlogs, { run: Effect.never }),
      Layer.mock(DeferredStatuses, { run: Effect.never }),
      Layer.mock(Clients, { run: Effect.never }),
      Layer.mock(EndpointNotices, { run: Effect.never }),
      Layer.mock(MailOutbox, { sends: false, run: Effect.never }),
      Layer.mock(TenantRemoval, { run: Effect.never })
    )
    const fiber = yield* Effect.forkChild(Effect.provide(runBackground, services))
    yield* TestClock.adjust("1500 millis")
    assert.deepStrictEqual((yield* Ref.get(starts)).toSorted(), ["retention", "windows", "windows", "worker"])
    yield* TestClock.adjust("2 seconds")
    assert.strictEqual((yield* Ref.get(starts)).filter((name) => name === "windows").length, 4)
    yield* Fiber.interrupt(fiber)
    yield* TestClock.adjust("1 minute")
    assert.strictEqual((yield* Ref.get(starts)).length, 6)
  }, Effect.provide(Logger.layer([]))))

  it.effect("does all maintenance once, also when a part fails", Effect.fnUntraced(function*() {
    const swept = yield* Ref.make<ReadonlyArray<string>>([])
    const sweeps = (name: string) => Effect.as(Ref.update(swept, (before) => [...before, name]), 1)
    const failure = new StorageError({ operation: "clients", cause: "the database is gone" })
    const services = Layer.mergeAll(
      Layer.mock(Backlogs, { sweep: sweeps("backlogs") }),
      Layer.mock(Clients, { sweep: Effect.fail(failure) }),
      Layer.mock(EndpointNotices, { sweep: sweeps("notices") }),
      Layer.mock(TenantRemoval, { sweep: sweeps("removal") }),
      Layer.mock(Retention, { sweep: sweeps("retention") })
    )
    assert.strictEqual(yield* Effect.flip(Effect.provide(maintainOnce, services)), failure)
    assert.deepStrictEqual((yield* Ref.get(swept)).toSorted(), ["backlogs", "notices", "removal", "retention"])
  }))

  const failure = new StorageError({ operation: "windows", cause: "locked" })
  const parts = (parts: { readonly windows: Effect.Effect<number, StorageError>; readonly mails: Effect.Effect<number>; readonly drainFor: (millis: number) => Effect.Effect<number> }) =>
    Layer.mergeAll(
      Layer.mock(ChargeWindows, { closeDue: parts.windows }),
      Layer.mock(DeferredStatuses, { applyDue: Effect.succeed(0) }),
      Layer.mock(DeliveryWorker, { drainFor: parts.drainFor }),
      Layer.mock(MailOutbox, { sends: true, sweep: parts.mails })
    )

  it.effect("delivers and mails once, also when windows fail to close", Effect.fnUntraced(function*() {
    const done = yield* Ref.make<ReadonlyArray<string>>([])
    const does = (name: string) => Effect.as(Ref.update(done, (before) => [...before, name]), 1)
    const services = parts({ windows: Effect.fail(failure), mails: does("mails"), drainFor: () => does("deliveries") })
    assert.strictEqual(yield* Effect.flip(Effect.provide(deliverOnce(Infinity), services)), failure)
    assert.deepStrictEqual((yield* Ref.get(done)).toSorted(), ["deliveries", "mails"])
  }))

  it.effect("leaves half of its time for deliveries, and ends mails with them", Effect.fnUntraced(function*() {
    const times: Array<number> = []
    const services = parts({
      windows: Effect.never,
      mails: Effect.never,
      drainFor: (millis) => Effect.as(Effect.andThen(Effect.sync(() => void times.push(millis)), Effect.sleep(millis)), 7)
    })
    const running = yield* Effect.forkChild(Effect.provide(deliverOnce(1000), services))
    yield* TestClock.adjust("999 millis")
    assert.isUndefined(running.pollUnsafe())
    yield* TestClock.adjust("1 millis")
    assert.strictEqual(yield* Fiber.join(running), 7)
    assert.deepStrictEqual(times, [500])
  }))
})
