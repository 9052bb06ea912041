/** Where the carrier's own system hands in transit events. */
import { Context, Effect, Layer } from "effect"
import type { NotPermitted } from "../access/AccessErrors.ts"
import type { Principal } from "../access/model/Principal.ts"
import { fault } from "../shared/Fault.ts"
import { InvalidInput } from "../shared/InvalidInput.ts"
import { isObject } from "../shared/Json.ts"
import type { StorageError } from "../shared/StorageError.ts"
import type { Publication } from "../transit-events/model/EventPublication.ts"
import { TransitEvents } from "../transit-events/TransitEvents.ts"

export interface IntakeReport {
  /** One for each item, in the order they came. */
  readonly results: ReadonlyArray<Publication>
}

export class TransitEventIntake extends Context.Service<TransitEventIntake, {
  /** Takes `{events: […]}`, `{events: {…}}`, a bare list or one bare event. */
  readonly report: (
    principal: Principal,
    body: unknown,
    options?: { readonly partial?: boolean }
  ) => Effect.Effect<IntakeReport, InvalidInput | NotPermitted | StorageError>
}>()("@waybill/core/intake/TransitEventIntake") {
  static readonly layer = Layer.effect(
    TransitEventIntake,
    Effect.gen(function*() {
      const transitEvents = yield* TransitEvents
      return TransitEventIntake.of({
        report: Effect.fn("TransitEventIntake.report")(function*(principal: Principal, body: unknown, options?: { readonly partial?: boolean }) {
          const events = itemsOf(body)
          if (events === undefined) {
            return yield* InvalidInput.of(fault([], "Send {\"events\": [ … ]} with 1 to 1000 events, or one event.", "required"))
          }
          return { results: yield* transitEvents.publish(principal, events, options) }
        })
      })
    })
  )
}

const itemsOf = (body: unknown): ReadonlyArray<unknown> | undefined => {
  if (Array.isArray(body)) return body
  if (!isObject(body)) return undefined
  const { events } = body
  if (Array.isArray(events)) return events
  if (isObject(events)) return [events]
  return events === undefined && "shipment" in body ? [body] : undefined
}
