/** A carrier and a customer with a status subscription, for tests of shipment status. */
import { type InvalidInput, ShipmentIntake, StatusUpdateIntake, TransitEventIntake } from "@waybill/core"
import { DeliveryWorker } from "@waybill/core/delivery"
import { type PostedShipment, ShipmentStatuses, type ShipmentView, StatusSubscriptions, type VerifiedAnswer } from "@waybill/core/shipment-status"
import { TransitEvents } from "@waybill/core/transit-events"
import { type EventOverrides, postedShipment, reportedEvent, ScriptedReceivers, TestWaybill } from "@waybill/testkit"
import { Effect } from "effect"
import { TestClock } from "effect/testing"

export const hook = "https://follower.example/status"

/** Start time of every test. */
export const start = Date.UTC(2026, 10, 20, 14)

const decoder = new TextDecoder()

/** The content of an answer. */
export const shown = (answer: { readonly bytes: Uint8Array }): ShipmentView => JSON.parse(decoder.decode(answer.bytes))

export const shownTo = (answer: VerifiedAnswer) => ({ tag: answer._tag, ...shown(answer.body) })

export type Notified = Readonly<Record<string, unknown>>

/** The main term of a notification. */
export const wordOf = (notified: Notified): unknown => notified["deliveryInformation_messages"] ?? notified["terminalStatus"] ?? notified["shipmentMilestoneStatus"]

export const pro = (proNumber: string) => ({ kind: "pro", proNumber }) as const

/** The carrier's system and its customer `client`, which has account A. */
export const makeCarrier = Effect.gen(function*() {
  yield* TestClock.setTime(start)
  const tenant = yield* TestWaybill.tenant()
  const shipments = yield* ShipmentIntake
  const updates = yield* StatusUpdateIntake
  const events = yield* TransitEventIntake
  const log = yield* TransitEvents
  const statuses = yield* ShipmentStatuses
  const subscriptions = yield* StatusSubscriptions
  const receivers = yield* ScriptedReceivers
  const worker = yield* DeliveryWorker
  const customer = tenant.customer("client", ["A"])

  const post = (shipmentId: string, overrides: Partial<PostedShipment> = {}) =>
    shipments.report(tenant.carrier, { shipments: [postedShipment(shipmentId, { accounts: ["A"], ...overrides })] })

  const update = (...items: ReadonlyArray<Notified>) => updates.report(tenant.carrier, { updates: items })

  const happen = (shipmentId: string, overrides: EventOverrides = {}) => events.report(tenant.carrier, { events: [reportedEvent(shipmentId, overrides)] })

  const view = (shipmentId: string) => Effect.map(statuses.record(tenant.carrier, shipmentId), ({ shipment }) => shown(shipment))

  /** The notifications that the subscriber received so far. */
  const notified = Effect.andThen(worker.drain, Effect.map(receivers.delivered(hook), (all) => all as ReadonlyArray<Notified>))

  const follow = (...referenceNumbers: ReadonlyArray<string>) => subscriptions.subscribe(customer, { referenceNumbers, webhookUrl: hook })

  const logged = Effect.map(log.list(tenant.carrier, {}), ({ data }) => data.map((bytes) => JSON.parse(decoder.decode(bytes)) as Record<string, any>))

  return { tenant, customer, shipments, updates, events, log, statuses, subscriptions, receivers, worker, post, update, happen, view, notified, follow, logged }
})

/** Pointers and codes of a refused call. */
export const faultsOf = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => (error as unknown as InvalidInput).faults.map((each) => `${each.pointer} ${each.code}`))

export const tagOf = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) => Effect.map(Effect.flip(effect), (error) => error._tag)
