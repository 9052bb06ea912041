/** A shipper orders a pickup; the carrier reports it, then sends its invoice and the proof of delivery. In memory, on a virtual clock. */
import { InvoiceDocuments, Invoices } from "@waybill/core/invoices"
import { type PickupDecision, PickupDesk, type PickupOrder, Pickups } from "@waybill/core/pickups"
import { documentsSample, fileSample, invoiceSample, pickupRequest, TestWaybill } from "@waybill/testkit"
import { Console, Effect, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"

const proNumber = "041-8367745"

/** Your own dispatch: here it accepts what fits into one truck. */
const desk = Layer.succeed(PickupDesk, {
  decide: ({ requestId, request }: PickupOrder): Effect.Effect<PickupDecision> =>
    request.grossPickupWeight > 45_000
      ? Effect.succeed({ decision: "callUs", messages: ["That is more than a truck. Call 555-0100."] })
      : Effect.as(Console.log(`  the desk sends a truck for request ${requestId.slice(0, 6)}`), { decision: "accept", carrierPickupNumber: "PU-0042", scac: "WAYB" })
})

const scenario = Effect.gen(function*() {
  const tenant = yield* TestWaybill.tenant()
  const shipper = tenant.customer("shipper", ["A-1"])
  const otherCustomer = tenant.customer("broker", ["B-2"])
  const pickups = yield* Pickups
  const invoices = yield* Invoices
  const documents = yield* InvoiceDocuments

  yield* Console.log("the shipper orders a truck, loses the response, and repeats the order with the same key")
  const order = pickupRequest({ pro: proNumber, orgAccountNumber: "A-1" })
  for (let call = 1; call <= 2; call++) {
    const [answer] = yield* pickups.create(shipper, order, { idempotencyKey: "order-4711" })
    yield* Console.log(`response ${call}: ${answer!.pickupStatus}, ${answer!.carrierPickupNumber}`)
  }
  const [large] = yield* pickups.create(shipper, pickupRequest({ more: { grossPickupWeight: 90_000 } }))
  yield* Console.log(`for twice the weight: ${large!.pickupStatus}. ${large!.pickupMessage.join(" ")}`)

  const look = Effect.gen(function*() {
    const lookup = { lookupValue: proNumber, lookupType: "PRO", requestType: "PickupStatus", isTest: "false" }
    const { informationCode, status, stopEta, stopEtaTimeZone } = yield* pickups.visibility(shipper, lookup)
    yield* Console.log(`the shipper sees: ${status} (${informationCode.codeDescription}), ${stopEta} ${stopEtaTimeZone}`)
  })
  yield* pickups.report(tenant.carrier, "PU-0042", { status: "En Route", stopEta: "2026-11-20T09:40:00" })
  yield* look
  yield* pickups.report(tenant.carrier, "PU-0042", { status: "Arrived" })
  yield* pickups.report(tenant.carrier, "PU-0042", { status: "Departed with Exact Match", informationCode: { code: "100" } })
  yield* look

  yield* Console.log("the carrier sends its invoice and the proof of delivery")
  const { warnings } = yield* invoices.create(tenant.carrier, invoiceSample({ accounts: ["A-1"], costs: ["200.90", "62.80"], total: "263.78" }))
  yield* Console.log(`the carrier gets a warning: ${warnings.join(" ")}`)
  const photo = fileSample("JPEG", 3_000_000)
  yield* documents.upload(tenant.carrier, documentsSample({ documents: [{ documentType: "POD", files: [photo] }] }))

  const [body] = (yield* invoices.list(shipper, { invoiceNumber: "4711" })).data
  const { invoiceHeader: { invoiceAmount } } = JSON.parse(new TextDecoder().decode(body))
  yield* Console.log(`the shipper owes ${invoiceAmount.currencyCode} ${invoiceAmount.value}`)
  const { documents: [proof] } = yield* documents.get(shipper, "4711")
  const [file] = proof!.files
  const length = yield* Stream.runFold(file!.content, () => 0, (sum, piece) => sum + piece.length)
  yield* Console.log(`and reads the ${proof!.documentType}, ${file!.mediaType}, ${length} bytes, unchanged`)
  yield* Console.log(`another customer finds ${(yield* invoices.list(otherCustomer, {})).data.length} invoices and ${(yield* documents.list(otherCustomer, {})).data.length} documents`)
})

await Effect.runPromise(scenario.pipe(Effect.provide(TestWaybill.layer().pipe(Layer.provide(desk))), Effect.provide(TestClock.layer()), Effect.scoped))
