/** Deletes a tenant with documents during an upload, next to another tenant that stays. */
import { type StoragePorts, TenantRemoval, Waybill } from "@waybill/core"
import { DocumentContents, DocumentStore, InvoiceDocuments } from "@waybill/core/invoices"
import { ContentHashNode, documentsSample, fileSample, HmacNode, SealerNode, TestWaybill, WebhookSenderScripted } from "@waybill/testkit"
import { fixtures } from "@waybill/conformance/suites"
import { Effect, Layer } from "effect"

const service = (storage: Layer.Layer<StoragePorts, unknown>) =>
  Waybill.layer({
    storage,
    transport: Layer.mergeAll(Layer.fresh(WebhookSenderScripted.layer), HmacNode.layer, ContentHashNode.layer, SealerNode.layer())
  })

/** Deletes the tenant `gone` after `before` and removes its data before `after`. The tenant `stays` has one document. */
export const deleteTenantWithDocuments = (storage: Layer.Layer<StoragePorts, unknown>, before: () => void, after: () => void) =>
  Effect.gen(function*() {
    const documents = yield* InvoiceDocuments
    const removal = yield* TenantRemoval
    for (const [tenantId, files] of [["gone", 3], ["stays", 1]] as const) {
      const { carrier } = yield* TestWaybill.tenant(tenantId)
      for (let n = 0; n < files; n++) {
        yield* documents.upload(carrier, documentsSample({ invoiceNumber: `N${n}`, documents: [{ documentType: "POD", files: [fileSample("PDF", 1000 + n)] }] }))
      }
    }
    const contents = yield* DocumentContents
    // a move was killed between the copy and its record
    yield* Effect.scoped(Effect.gen(function*() {
      const copy = yield* contents.open("gone")
      yield* copy.write(fileSample("PDF", 20))
      yield* copy.finish
      yield* Effect.flatMap(DocumentStore, (store) => store.discard("gone", copy.contentId))
      yield* contents.keep("gone", [copy.contentId])
    }))
    yield* Effect.scoped(Effect.gen(function*() {
      const writer = yield* contents.open("gone")
      yield* writer.write(fileSample("PDF", 10))
      before()
      yield* removal.remove("gone")
      // Leftovers of a killed process are older than the sweep.
      const begun = Date.now()
      yield* fixtures.eventually(Effect.sync(() => Date.now()), (now) => now > begun + 1)
      yield* removal.sweep
      after()
    }))
  }).pipe(Effect.provide(service(storage)))
