/** A pickup desk with scripted decisions, which records its requests. */
import { type CancelledPickup, type PickupDecision, PickupDesk, PickupDeskFailed, type PickupOrder, Pickups } from "@waybill/core/pickups"
import { pickupRequest, type PickupOverrides, TestWaybill } from "@waybill/testkit"
import { Effect, Layer, type Scope } from "effect"

export interface Desk {
  readonly asked: Array<PickupOrder>
  readonly calledBack: Array<CancelledPickup>
  /** Its decisions from now on. If it throws, the desk cannot decide. */
  decide: (order: PickupOrder) => PickupDecision
}

export const makeDesk = (decide: Desk["decide"] = () => ({ decision: "accept" })): Desk => ({ asked: [], calledBack: [], decide })

/** The whole service with this desk. */
export const layerWith = (desk: Desk) =>
  TestWaybill.layer().pipe(Layer.provide(Layer.succeed(PickupDesk, {
    decide: (order) =>
      Effect.andThen(Effect.yieldNow, Effect.try({
        try: () => {
          desk.asked.push(order)
          return desk.decide(order)
        },
        catch: (cause) => new PickupDeskFailed({ cause })
      })),
    cancelled: (pickup) => Effect.sync(() => void desk.calledBack.push(pickup))
  })))

export const inServiceWith = (desk: Desk) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, layerWith(desk))

/** A test of the service with a desk of its own. */
export const withDesk = (
  body: (desk: Desk) => Generator<Effect.Effect<unknown, unknown, Layer.Success<ReturnType<typeof layerWith>> | Scope.Scope>, void, never>,
  decide?: Desk["decide"]
) => () => Effect.suspend(() => {
  const desk = makeDesk(decide)
  return inServiceWith(desk)(Effect.fnUntraced(body)(desk))
})

/** Where every pickup is accepted. */
export const inService = <A, E, R>(effect: Effect.Effect<A, E, R>) => inServiceWith(makeDesk())(effect)

export const pointers = (error: unknown): ReadonlyArray<string> =>
  (error as { readonly faults?: ReadonlyArray<{ readonly pointer: string }> }).faults?.map((each) => each.pointer) ?? []

/** The service, a tenant, and common test steps. */
export const setup = Effect.gen(function*() {
  const tenant = yield* TestWaybill.tenant()
  const pickups = yield* Pickups
  const shipper = tenant.customer("shipper", ["A"])
  const look = (lookupValue: string, parts: { readonly lookupType?: string; readonly isTest?: string } = {}, principal = shipper) =>
    pickups.visibility(principal, { lookupValue, lookupType: "PickupConfirmationID", requestType: "PickupStatus", isTest: "false", ...parts })
  const order = (overrides: PickupOverrides = {}, idempotencyKey?: string, principal = shipper) =>
    Effect.map(pickups.create(principal, pickupRequest(overrides), idempotencyKey === undefined ? {} : { idempotencyKey }), ([answer]) => answer!)
  return { tenant, pickups, shipper, carrier: tenant.carrier, look, order }
})
