/** Carriers, customers and helpers for tests of area B. */
import type { Principal } from "@waybill/core"
import { InvoiceDocuments, Invoices } from "@waybill/core/invoices"
import { TransitEvents } from "@waybill/core/transit-events"
import { reportedEvent, TestWaybill } from "@waybill/testkit"
import { assert } from "@effect/vitest"
import { Effect } from "effect"

export const setup = Effect.gen(function*() {
  const { carrier, customer, tenantId } = yield* TestWaybill.tenant()
  const of = (numbers: { readonly dot?: string; readonly mc?: string }, client = "carrier"): Principal => ({ ...carrier, client, ...numbers })
  return { tenantId, carrier, of, customer, invoices: yield* Invoices, documents: yield* InvoiceDocuments }
})

/** Sets the accounts of a shipment. */
export const own = (carrier: Principal, shipmentId: string, accounts: ReadonlyArray<string>) =>
  Effect.flatMap(TransitEvents, (events) => Effect.orDie(events.append(carrier, [reportedEvent(shipmentId, { accounts })])))

export const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

export const jsonOf = (bytes: Uint8Array) => JSON.parse(textOf(bytes))

export const faultsOf = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(effect), (error) => {
    assert.strictEqual(error._tag, "InvalidInput")
    return (error as unknown as { readonly faults: ReadonlyArray<{ readonly pointer: string; readonly code: string; readonly detail: string }> }).faults
  })

export const tagOf = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) => Effect.map(Effect.flip(effect), (error) => error._tag)

/** Unusual text in a URL path. */
export const oddTexts = ["", " ", "\u0000", "a\u0000b", "\ud800", "x".repeat(100_000), "'; DROP TABLE x", "..", "%", "#INV-1", "__proto__", "😀"]
