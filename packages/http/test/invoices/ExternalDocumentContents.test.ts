/** Files outside the database when the answer to a commit is lost: their records may be stored. */
import { assert, describe, it } from "@effect/vitest"
import { StorageError, Transaction, Waybill } from "@waybill/core"
import { InvoiceDocuments } from "@waybill/core/invoices"
import { ContentHashNode, documentsSample, fileSample, HmacNode, SealerNode, StorageMemory, TestWaybill, WebhookSenderScripted } from "@waybill/testkit"
import { Effect, Layer, Stream } from "effect"
import { DocumentContentsS3 } from "../../src/s3.ts"
import { S3Double } from "./S3Double.ts"

const transport = Layer.mergeAll(Layer.fresh(WebhookSenderScripted.layer), HmacNode.layer, ContentHashNode.layer, SealerNode.layer())

/** A service whose transactions fail after their commit, once `isLost` is set. */
const makeService = () => {
  const [bucket, answers] = [new S3Double(), { isLost: false }]
  const lost = Effect.suspend(() => answers.isLost ? Effect.fail(new StorageError({ operation: "Transaction.run", cause: "The connection was lost." })) : Effect.void)
  const losing = Layer.effect(Transaction, Effect.map(Transaction, (transaction) => Transaction.of({ ...transaction, run: (effect) => Effect.tap(transaction.run(effect), () => lost) })))
  const storage = DocumentContentsS3.layer({ client: bucket, bucket: "documents" }).pipe(Layer.provideMerge(losing), Layer.provideMerge(Layer.fresh(StorageMemory.layer)))
  return { bucket, answers, layer: Waybill.layer({ storage, transport }) }
}

const upload = documentsSample({ documents: [{ documentType: "POD", files: [fileSample("PDF", 1000)] }] })

describe("files outside the database, when the answer to a commit is lost", () => {
  it.effect("stay when they were added, because their record may be stored", () => {
    const { answers, bucket, layer } = makeService()
    return Effect.gen(function*() {
      const { carrier } = yield* TestWaybill.tenant("acme")
      const documents = yield* InvoiceDocuments
      answers.isLost = true
      assert.strictEqual((yield* Effect.flip(documents.upload(carrier, upload)))._tag, "StorageError")
      answers.isLost = false
      const [file] = (yield* documents.get(carrier, "4711")).documents[0]!.files
      assert.strictEqual((yield* Stream.runFold(file!.content, () => 0, (sum, { length }) => sum + length)), 1000)
      assert.strictEqual(bucket.objects.size, 1)
    }).pipe(Effect.provide(layer))
  })

  it.effect("stay when they were deleted, because their record may be there", () => {
    const { answers, bucket, layer } = makeService()
    return Effect.gen(function*() {
      const { carrier } = yield* TestWaybill.tenant("acme")
      const documents = yield* InvoiceDocuments
      yield* documents.upload(carrier, upload)
      answers.isLost = true
      assert.strictEqual((yield* Effect.flip(documents.remove(carrier, "4711")))._tag, "StorageError")
      assert.strictEqual(bucket.objects.size, 1)
    }).pipe(Effect.provide(layer))
  })
})
