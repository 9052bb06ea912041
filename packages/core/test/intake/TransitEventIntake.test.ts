import { assert, describe, it } from "@effect/vitest"
import { TransitEventIntake, TransitEvents } from "@waybill/core"
import { reportedEvent, TestWaybill } from "@waybill/testkit"
import { Effect } from "effect"
import { json } from "../arbitraries.ts"

const inService = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, TestWaybill.layer())

const setup = Effect.gen(function*() {
  const tenant = yield* TestWaybill.tenant()
  const intake = yield* TransitEventIntake
  const events = yield* TransitEvents
  return { tenant, intake, stored: Effect.map(events.list(tenant.carrier, {}), ({ data }) => data.length) }
})

describe("TransitEventIntake", () => {
  it.effect("takes one event or a list, bare or under events", () =>
    inService(Effect.gen(function*() {
      const { intake, stored, tenant } = yield* setup
      const event = reportedEvent("S")
      for (const body of [event, [event, event], { events: event }, { events: [event] }]) yield* intake.report(tenant.carrier, body)
      assert.strictEqual(yield* stored, 5)
    })))

  it.effect("answers what happened to each item, in order", () =>
    inService(Effect.gen(function*() {
      const { intake, tenant } = yield* setup
      const event = reportedEvent("S", { eventId: "e" })
      const { results } = yield* intake.report(tenant.carrier, { events: [event, "no event", event] }, { partial: true })
      assert.deepStrictEqual(results.map((each) => [each.index, each.result]), [[0, "accepted"], [1, "refused"], [2, "duplicate"]])
    })))

  it.effect("says what it wants when it gets something else", () =>
    inService(Effect.gen(function*() {
      const { intake, tenant } = yield* setup
      for (const body of [null, undefined, 7, "text", {}, { events: "all" }, { events: null }, { event: {} }]) {
        const refused = yield* Effect.flip(intake.report(tenant.carrier, body))
        assert(refused._tag === "InvalidInput")
        assert.include(refused.message, "events")
      }
      yield* Effect.flip(intake.report(tenant.carrier, { events: [] }))
      yield* Effect.flip(intake.report(tenant.carrier, []))
    })))

  it.effect("is for carriers", () =>
    inService(Effect.gen(function*() {
      const { intake, stored, tenant } = yield* setup
      const refused = yield* Effect.flip(intake.report(tenant.customer("c", ["A"]), reportedEvent("S")))
      assert.strictEqual(refused._tag, "NotPermitted")
      assert.strictEqual(yield* stored, 0)
    })))

  it.effect.prop("never breaks on garbage, and a refused call leaves nothing behind", [json], ([garbage]) =>
    inService(Effect.gen(function*() {
      const { intake, stored, tenant } = yield* setup
      for (const body of [garbage, { events: garbage }, [garbage], { events: [reportedEvent("S"), garbage] }]) {
        const refused = yield* Effect.flip(intake.report(tenant.carrier, body))
        assert.strictEqual(refused._tag, "InvalidInput")
      }
      assert.strictEqual(yield* stored, 0)
    })))
})
