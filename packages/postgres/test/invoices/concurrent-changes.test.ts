/** Invoices and documents that two calls change at the same time. */
import { assert, layer } from "@effect/vitest"
import type { Principal } from "@waybill/core"
import { InvoiceDocuments, Invoices } from "@waybill/core/invoices"
import { fixtures } from "@waybill/conformance/suites"
import { documentsSample, invoiceSample } from "@waybill/testkit"
import { Effect, Fiber, Result } from "effect"
import { openTransaction, runBlocked, untilOneIsBlocked } from "../OpenTransaction.ts"
import { testService } from "../TestService.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"

const setup = Effect.gen(function*() {
  const carrier: Principal = { tenantId: fixtures.freshTenant(), client: "carrier", roles: ["carrier"], accounts: [], origin: "key" }
  const payer: Principal = { ...carrier, client: "payer", roles: ["customer"], accounts: ["A"] }
  return { carrier, payer, invoices: yield* Invoices, documents: yield* InvoiceDocuments }
})

/** The answer to the second call, or the tag of its error. */
const inTurn = <A, E, R, B, E2 extends { readonly _tag: string }, R2>(first: Effect.Effect<A, E, R>, second: Effect.Effect<B, E2, R2>) =>
  Effect.map(runBlocked(first, Effect.result(second)), ([, result]) => Result.match(result, { onSuccess: (answer): unknown => answer, onFailure: (error) => error._tag }))

/** The message of a call's answer, or the tag of its error. */
const messageOf = <E extends { readonly _tag: string }, R>(call: Effect.Effect<{ readonly message: string }, E, R>) =>
  Effect.match(call, { onSuccess: ({ message }) => message, onFailure: ({ _tag }): string => _tag })

layer(testService(testStorage(freshSchema())), { excludeTestServices: true })("two calls at the same time", (it) => {
  it.effect("find an invoice that is deleted meanwhile like an unknown one", Effect.fnUntraced(function*() {
    const { carrier, invoices } = yield* setup
    for (const second of [
      invoices.remove(carrier, "INV-1"),
      invoices.replace(carrier, "INV-1", invoiceSample({ DOT: "1", MC: "2" })),
      invoices.replace(carrier, "INV-1", invoiceSample({ DOT: "1", MC: "3" }))
    ]) {
      yield* invoices.create(carrier, invoiceSample({ DOT: "1", MC: "2" }))
      assert.strictEqual(yield* inTurn(invoices.remove(carrier, "INV-1"), second), "InvoiceNotFound")
    }
  }))

  it.effect("find an invoice and its documents that a correction moves meanwhile", Effect.fnUntraced(function*() {
    const { carrier, documents, invoices } = yield* setup
    const correct = invoices.replace(carrier, "INV-1", invoiceSample({ DOT: "1", MC: "3" }))
    const moved = [
      // the answer to the first was lost
      [messageOf(correct), "Invoice INV-1 was replaced."],
      [messageOf(invoices.replace(carrier, "INV-1", invoiceSample({ DOT: "1", MC: "2" }))), "Invoice INV-1 was replaced."],
      [messageOf(documents.remove(carrier, "4711")), "1 file was deleted from invoice number 4711."],
      [messageOf(invoices.remove(carrier, "INV-1")), "Invoice INV-1 was deleted."]
    ] as const
    for (const [second, message] of moved) {
      yield* invoices.create(carrier, invoiceSample({ DOT: "1", MC: "2" }))
      yield* documents.upload(carrier, documentsSample({ DOT: "1", MC: "2" }))
      assert.strictEqual((yield* runBlocked(correct, second))[1], message)
      yield* Effect.ignore(invoices.remove(carrier, "INV-1"))
      yield* Effect.ignore(documents.remove(carrier, "4711"))
    }
  }))

  it.effect("lock a shipment before documents, so that a correction to it holds up no upload", Effect.fnUntraced(function*() {
    const { carrier, documents, invoices } = yield* setup
    yield* invoices.create(carrier, invoiceSample({ DOT: "1", MC: "2" }))
    const commit = yield* openTransaction(fixtures.claim(carrier.tenantId, [{ shipmentId: "SHP-2", accounts: undefined }]))
    const correction = yield* Effect.forkChild(invoices.replace(carrier, "INV-1", invoiceSample({ DOT: "1", MC: "3", shipmentID: "SHP-2" })))
    yield* untilOneIsBlocked
    // without accounts it would wait for its shipment too
    yield* documents.upload(carrier, documentsSample({ DOT: "1", MC: "2", accounts: ["A"] }))
    yield* commit
    yield* Fiber.join(correction)
    assert.deepStrictEqual((yield* documents.list(carrier)).data.map(({ record }) => record["MC"]), ["3"])
  }))

  it.effect("overwrite no invoice that is created under the corrected numbers meanwhile", Effect.fnUntraced(function*() {
    const { carrier, invoices } = yield* setup
    yield* invoices.create(carrier, invoiceSample({ DOT: "1", MC: "2" }))
    const correct = invoices.replace(carrier, "INV-1", invoiceSample({ DOT: "1", MC: "3" }))
    assert.strictEqual(yield* inTurn(invoices.create(carrier, invoiceSample({ DOT: "1", MC: "3", invoiceNumber: "4712" })), correct), "InvoiceExists")
  }))

  it.effect("show documents to the account that an invoice of their number names, whichever is first", Effect.fnUntraced(function*() {
    for (const isUploadFirst of [true, false]) {
      const { carrier, documents, invoices, payer } = yield* setup
      const upload = documents.upload(carrier, documentsSample({ accounts: [] }))
      const create = invoices.create(carrier, invoiceSample({ accounts: ["A"] }))
      yield* isUploadFirst ? inTurn(upload, create) : inTurn(create, upload)
      assert.lengthOf((yield* documents.list(payer)).data, 1)
    }
  }))

  it.effect("move a file to corrected numbers that is uploaded under the previous ones meanwhile", Effect.fnUntraced(function*() {
    const { carrier, documents, invoices } = yield* setup
    yield* invoices.create(carrier, invoiceSample({ DOT: "1", MC: "2" }))
    const upload = documents.upload(carrier, documentsSample({ DOT: "1", MC: "2" }))
    yield* inTurn(upload, invoices.replace(carrier, "INV-1", invoiceSample({ DOT: "1", MC: "3" })))
    assert.deepStrictEqual((yield* documents.list(carrier)).data.map(({ record }) => record["MC"]), ["3"])
  }))

  it.effect("delete a file that is uploaded meanwhile with the others", Effect.fnUntraced(function*() {
    const { carrier, documents } = yield* setup
    const upload = documents.upload(carrier, documentsSample())
    yield* upload
    assert.deepStrictEqual(yield* inTurn(upload, documents.remove(carrier, "4711")), { message: "2 files were deleted from invoice number 4711." })
  }))
})
