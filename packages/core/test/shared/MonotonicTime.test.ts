/** What a process counts by time goes on when its clock is set back. */
import { assert, describe, it } from "@effect/vitest"
import { type MailOutbox, TenantLimits } from "@waybill/core"
import { WebhookTests } from "@waybill/core/delivery"
import { PickupDesk, pickupMailsPerMinute } from "@waybill/core/pickups"
import { makeLookupLimiter } from "@waybill/core/shipment-status"
import { TestWaybill } from "@waybill/testkit"
import { Clock, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { makePickupMail } from "../../src/pickups/PickupMail.ts"
import { LineLimiter, linesPerMinute } from "../../src/shared/LineLimiter.ts"
import { clockAhead } from "../delivery/Engine.ts"
import { inService } from "../inService.ts"
import { setup } from "../pickups/Desk.ts"

const hours = 3 * 3_600_000

const outbox: (typeof MailOutbox)["Service"] = { sends: true, put: () => Effect.succeed(true), sweep: Effect.succeed(0), run: Effect.never }

const isAdmitted = <E, R>(call: Effect.Effect<unknown, E, R>) => Effect.match(call, { onSuccess: () => true, onFailure: () => false })

/** Calls that count one use, and return whether it was admitted. */
const limits = {
  "lines of a log": {
    perMinute: linesPerMinute,
    use: Effect.sync(() => {
      const limiter = new LineLimiter()
      let lines = 0
      return Effect.suspend(() => {
        const before = lines
        return Effect.map(limiter.log("storage", Effect.sync(() => void (lines += 1))), () => lines > before)
      })
    })
  },
  "lookups of other parties' freight": {
    perMinute: 6,
    use: Effect.map(makeLookupLimiter, ({ take }) => isAdmitted(take({ tenantId: "t", client: "a" })))
  },
  "tests of webhooks": {
    perMinute: 10,
    use: Effect.gen(function*() {
      const tests = yield* WebhookTests
      const tenant = yield* TestWaybill.tenant()
      return isAdmitted(tests.allow(tenant.customer("a", ["A"])))
    })
  },
  "confirmation mails": {
    perMinute: pickupMailsPerMinute,
    use: Effect.sync(() => {
      const mail = makePickupMail(outbox)
      const answer = { pickupMessage: [] } as unknown as Parameters<typeof mail.confirm>[2]
      const request = { confirmationEmail: "dock@closets.example" } as Parameters<typeof mail.confirm>[1]
      return Effect.map(
        mail.confirm({ tenantId: "t", client: "a", pickupId: "1", entry: 1 }, request, answer),
        ({ pickupMessage }) => pickupMessage[0]!.startsWith("This answer is also sent")
      )
    })
  }
}

describe("limits by the minute", () => {
  it.effect.each(Object.entries(limits))("of %s end after it, although the clock was set back", ([, { perMinute, use }]) =>
    inService(Effect.gen(function*() {
      yield* TestClock.setTime(hours)
      const admits = yield* use
      for (let n = 0; n < perMinute; n++) assert.isTrue(yield* admits)
      assert.isFalse(yield* admits)
      yield* TestClock.setTime(0)
      yield* TestClock.adjust("1 minute")
      assert.isTrue(yield* admits)
    })))
})

it.effect("copies of a tenant's limits are read again within seconds, although the clock was set back", Effect.fnUntraced(function*() {
  yield* TestClock.setTime(hours)
  const { tenantId } = yield* TestWaybill.tenant()
  const elsewhere = yield* TenantLimits.pipe(Effect.provide(Layer.fresh(TenantLimits.layer)))
  yield* elsewhere.of(tenantId)
  yield* (yield* TenantLimits).put(tenantId, { subscriptions: 7 })
  yield* TestClock.setTime(0)
  yield* TestClock.adjust("3 seconds")
  assert.strictEqual((yield* elsewhere.of(tenantId)).subscriptions, 7)
}, inService))

it.effect("a call waits for the carrier's decision no longer, although the clock was set back", () =>
  Clock.clockWith((clock) => {
    // only what the call reads goes back, because sleeps of the test clock end at a time of day
    let setBack = 0
    return Effect.gen(function*() {
      const { order } = yield* setup
      const call = yield* Effect.forkChild(Effect.provideService(order(), Clock.Clock, clockAhead(clock, () => hours - setBack)))
      yield* TestClock.adjust(0)
      assert.isUndefined(call.pollUnsafe())
      setBack = hours
      yield* TestClock.adjust("20 seconds")
      assert.isDefined(call.pollUnsafe())
      assert.strictEqual((yield* Fiber.join(call)).pickupStatus, "Call us")
    }).pipe(Effect.provide(TestWaybill.layer().pipe(Layer.provide(Layer.succeed(PickupDesk, { waitMillis: 20_000 })))))
  }))
