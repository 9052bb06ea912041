import { assert, describe, it } from "@effect/vitest"
import { Backlogs, Clients, DeferredStatuses, EndpointNotices, MailOutbox, Retention, runBackground, TenantRemoval } from "@waybill/core"
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
      Layer.succeed(DeliveryWorker, DeliveryWorker.of({ run: lives("worker"), drain: Effect.succeed(0) })),
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
})
