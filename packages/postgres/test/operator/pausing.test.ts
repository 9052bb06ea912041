/** A client's call concurrent with an operator's pause: the pause stays in either order. */
import { layer } from "@effect/vitest"
import type { Principal } from "@waybill/core"
import { DeliveryControl, DeliveryQueue, pauseByOperator } from "@waybill/core/delivery"
import { ChargeSubscriptions } from "@waybill/core/freight-charges"
import { type SubscriptionPatch, TransitSubscriptions } from "@waybill/core/transit-events"
import { TestWaybill } from "@waybill/testkit"
import { fixtures } from "@waybill/conformance/suites"
import { Effect, Exit, Option } from "effect"
import { assert } from "vitest"
import { runBlocked } from "../OpenTransaction.ts"
import { rowsIn, testService } from "../TestService.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"

const schema = freshSchema()
const url = "https://receiver.example/hook"

const statusOf = (tenantId: string, id: string) =>
  Effect.map(Effect.flatMap(DeliveryQueue, (queue) => queue.destinationStatus(tenantId, id)), (found) => {
    const { pausedBy, reason, state } = Option.getOrThrow(found)
    return { state, pausedBy, reason }
  })

interface Call {
  readonly says: string
  readonly subscribe: (tenant: Effect.Success<ReturnType<typeof TestWaybill.tenant>>, customer: Principal) => Effect.Effect<string, any, any>
  readonly call: (customer: Principal, id: string) => Effect.Effect<unknown, { readonly _tag: string }, any>
  readonly refused: string | undefined
}

const transit = (says: string, patch: typeof SubscriptionPatch.Encoded, refused?: string): Call => ({
  says,
  subscribe: (tenant, customer) => Effect.map(TestWaybill.subscribe(tenant, customer, { endpointUrl: url }), ({ id }) => id),
  call: (customer, id) => Effect.flatMap(TransitSubscriptions, (all) => all.patch(customer, id, patch)),
  refused
})

const calls: ReadonlyArray<Call> = [
  transit("a change of settings leaves it paused", { delivery: { batchMaxSize: 7 } }),
  transit("a resume is refused", { status: "active" }, "SubscriptionPausedByOperator"),
  transit("being made inactive is refused", { status: "inactive" }, "SubscriptionPausedByOperator"),
  {
    says: "a webhook test does not resume freight charges",
    subscribe: (_, customer) => Effect.map(TestWaybill.subscribeToCharges(customer, { webhookUrl: url }), ({ subscriptionId }) => subscriptionId),
    call: (customer) => Effect.flatMap(ChargeSubscriptions, (all) => all.testWebhook(customer, { webhookUrl: url })),
    refused: "SubscriptionPausedByOperator"
  }
]

layer(testService(testStorage(schema)), { excludeTestServices: true })("an operator's pause that commits in the middle of a client's call", (it) => {
  for (const { call, refused, says, subscribe } of calls) {
    it.effect(`stays: ${says}`, () =>
      Effect.gen(function*() {
        const tenant = yield* TestWaybill.tenant(fixtures.freshTenant())
        const { tenantId } = tenant
        const customer = tenant.customer("client", ["A"])
        const id = yield* subscribe(tenant, customer)
        // the engine paused it first, and its client may resume it
        yield* rowsIn(schema)("UPDATE @delivery_destinations SET state = 'paused', paused_by = 'service' WHERE tenant_id = $1", [tenantId])
        const pause = Effect.flatMap(DeliveryControl, (control) => control.pause(tenantId, id, pauseByOperator("Unpaid.")))
        const [, exit] = yield* runBlocked(pause, Effect.exit(call(customer, id)))
        assert.deepStrictEqual(yield* statusOf(tenantId, id), { state: "paused", pausedBy: "operator", reason: "Unpaid." })
        if (refused === undefined) assert.isTrue(Exit.isSuccess(exit))
        else assert.include(JSON.stringify(exit), refused)
      }) as Effect.Effect<void>)
  }
})
