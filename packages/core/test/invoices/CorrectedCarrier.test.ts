import { assert, it } from "@effect/vitest"
import type { InvoiceCarrier, InvoiceStore } from "@waybill/core/invoices"
import { Effect } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import { lockBoth } from "../../src/invoices/CorrectedCarrier.ts"
import { oneOf } from "../arbitraries.ts"
import { untyped } from "../untyped.ts"

const carrier = Arbitrary.map(Arbitrary.all([oneOf(["", "1", "2"]), oneOf(["", "1", "2"])]), ([dot, mc]): InvoiceCarrier => ({ dot, mc }))

it.effect.prop("two corrections in opposite directions lock in the same order", [carrier, carrier], Effect.fnUntraced(function*([one, other]) {
  const locksOf = Effect.fnUntraced(function*(from: InvoiceCarrier, to: InvoiceCarrier) {
    const order: Array<InvoiceCarrier> = []
    const store: InvoiceStore["Service"] = untyped({ lock: (_: string, each: InvoiceCarrier) => Effect.sync(() => (order.push(each), each)) })
    const locked: unknown = yield* lockBoth(store, "acme", [from, to], "INV-1")
    assert.deepStrictEqual(locked, { from, to })
    return order
  })
  assert.deepStrictEqual(yield* locksOf(one, other), yield* locksOf(other, one))
}))
