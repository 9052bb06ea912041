import { assert, describe, it } from "@effect/vitest"
import { type StoragePorts, Transaction } from "@waybill/core"
import { DocumentContents } from "@waybill/core/invoices"
import { fileSample, StorageMemory } from "@waybill/testkit"
import { DocumentContentsSuite } from "@waybill/conformance/suites"
import { Effect, Fiber, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { afterAll } from "vitest"
import { DocumentContentsS3, type S3Calls } from "../../src/s3.ts"
import { deleteTenantWithDocuments } from "./DeletedTenant.ts"
import { S3Double } from "./S3Double.ts"
import { startS3 } from "./S3Server.ts"

const over = (client: S3Calls): Layer.Layer<StoragePorts, unknown> =>
  Layer.provideMerge(DocumentContentsS3.layer({ client, bucket: "documents", prefix: "waybill/" }), Layer.fresh(StorageMemory.layer))

DocumentContentsSuite.suite("S3", over(new S3Double()))

describe("DocumentContentsS3", () => {
  const bucket = new S3Double()

  it.effect("uploads large files in parts of five mebibytes, and keeps each under its tenant's prefix", Effect.fnUntraced(function*() {
    const contents = yield* DocumentContents
    const file = fileSample("PDF", 11 * 1024 * 1024)
    const contentId = yield* Effect.scoped(Effect.gen(function*() {
      const writer = yield* contents.open("a/b")
      for (let from = 0; from < file.length; from += 60_000) yield* writer.write(file.subarray(from, from + 60_000))
      assert.deepStrictEqual([...bucket.uploads.values()].map(({ parts }) => parts.size), [2])
      yield* writer.finish
      yield* contents.keep("a/b", [writer.contentId])
      return writer.contentId
    }))
    assert.deepStrictEqual([bucket.largestPart, bucket.uploads.size], [5 * 1024 * 1024, 0])
    assert.deepStrictEqual([...bucket.objects.keys()], [`waybill/a%2Fb/${contentId}`])
    assert.strictEqual(Buffer.compare(bucket.objects.get(`waybill/a%2Fb/${contentId}`)!, file), 0)
    yield* contents.remove("a/b", [contentId])
    assert.strictEqual(bucket.objects.size, 0)
  }, Effect.provide(over(bucket))))

  it.live("has no object and no upload of a deleted tenant, and every object of others", () => {
    const own = new S3Double()
    const counts = () => [...["gone", "stays"].map((name) => [...own.objects.keys()].filter((key) => key.startsWith(`waybill/${name}/`)).length), own.uploads.size]
    return deleteTenantWithDocuments(
      over(own),
      () => assert.deepStrictEqual(counts(), [4, 1, 1]),
      () => assert.deepStrictEqual(counts(), [0, 1, 0])
    )
  })

  it.effect("aborts uploads that were never kept, page by page", Effect.fnUntraced(function*() {
    const contents = yield* DocumentContents
    yield* Effect.scoped(Effect.gen(function*() {
      for (let n = 0; n < 5; n++) yield* contents.open("acme")
      yield* contents.open("acme-2")
      assert.strictEqual(yield* contents.sweep("acme", Date.now() + 1000), 5)
      assert.strictEqual(bucket.uploads.size, 1)
    }))
    assert.strictEqual(bucket.uploads.size, 0)
  }, Effect.provide(over(bucket))))

  it.effect("fails with a storage error when S3 fails", Effect.fnUntraced(function*() {
    const contents = yield* DocumentContents
    const error = yield* Effect.flip(Effect.scoped(contents.open("acme")))
    assert.deepStrictEqual([error._tag, error.operation], ["StorageError", "DocumentContents.open"])
  }, Effect.provide(over(Object.assign(new S3Double(), { createMultipartUpload: () => Promise.reject(new Error("no")) })))))
})

describe("a bucket that does not answer", () => {
  const never = () => new Promise<never>(() => {})

  it.effect("ends reads and uploads after a minute, and aborts their calls", () => {
    const aborted: Array<string> = []
    const silent = (name: string) => (_: unknown, { abortSignal }: { readonly abortSignal: AbortSignal }) => {
      abortSignal.addEventListener("abort", () => aborted.push(name))
      return never()
    }
    const bucket = Object.assign(new S3Double(), { getObject: silent("read"), uploadPart: silent("write") })
    return Effect.gen(function*() {
      const contents = yield* DocumentContents
      const upload = Effect.scoped(Effect.gen(function*() {
        const writer = yield* contents.open("acme")
        yield* writer.write(fileSample("PDF", 1000))
        return yield* writer.finish
      }))
      const calls = yield* Effect.forkChild(Effect.all([Effect.flip(contents.read("acme", crypto.randomUUID(), 0)), Effect.flip(upload)], { concurrency: 2 }))
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual((yield* Fiber.join(calls)).map(({ operation }) => operation), ["DocumentContents.read", "DocumentContents.write"])
      assert.deepStrictEqual([aborted.toSorted(), bucket.uploads.size], [["read", "write"], 0])
    }).pipe(Effect.provide(over(bucket)))
  })

  it.effect("ends a sweep", () =>
    Effect.gen(function*() {
      const contents = yield* DocumentContents
      const sweep = yield* Effect.forkChild(Effect.flip(contents.sweep("acme", Date.now())))
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* Fiber.join(sweep)).operation, "DocumentContents.sweep")
    }).pipe(Effect.provide(over(Object.assign(new S3Double(), { listMultipartUploads: never })))))

  it.effect("delays the end of an upload, and the answer to a deletion, by a minute at most", () => {
    const bucket = Object.assign(new S3Double(), { abortMultipartUpload: never, deleteObject: never })
    return Effect.gen(function*() {
      const contents = yield* DocumentContents
      const removal = Effect.flatMap(Transaction, (transaction) => transaction.run(contents.remove("acme", [crypto.randomUUID()])))
      const calls = yield* Effect.forkChild(Effect.all([Effect.scoped(contents.open("acme")), removal], { concurrency: 2 }))
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(calls)
    }).pipe(Effect.provide(over(bucket)), Effect.provide(Logger.layer([])))
  })
})

/** The host installs this package. */
const sdk = await import("@aws-sdk/client-s3" as string).catch(() => undefined)

describe.skipIf(sdk === undefined)("with the S3 client of AWS", async () => {
  if (sdk === undefined) return
  const server = await startS3(new S3Double())
  const client = new sdk.S3({
    endpoint: server.url,
    region: "us-east-1",
    forcePathStyle: true,
    credentials: { accessKeyId: "test", secretAccessKey: "test" }
  }) as S3Calls & { readonly destroy: () => void }
  afterAll(async () => {
    client.destroy()
    await server.stop()
  })
  DocumentContentsSuite.suite("S3 over HTTP", over(client))
})
