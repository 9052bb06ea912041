import { assert, describe, it } from "@effect/vitest"
import { StorageError } from "@waybill/core"
import {
  type ContentWriter,
  DocumentContents,
  DocumentStore,
  inTwoStores,
  makeDocumentMove,
  type DocumentMoveOutcome,
  type StoredDocuments
} from "@waybill/core/invoices"
import { documentsSample, fileSample, TestWaybill } from "@waybill/testkit"
import { Bytes, Effect, Stream } from "effect"
import { randomUUID } from "node:crypto"
import { inService } from "../inService.ts"
import { setup } from "./Billing.ts"

type Contents = DocumentContents["Service"]

/** A store beside the service's own. `after`: is called when contents are kept. */
const otherStore = (after: (contentId: string) => Effect.Effect<void, StorageError> = () => Effect.void) => {
  const kept = new Map<string, Uint8Array>()
  const [written, finished] = [new Map<string, Uint8Array>(), new Map<string, Uint8Array>()]
  const contents: Contents = {
    open: () =>
      Effect.sync((): ContentWriter => {
        const contentId = randomUUID()
        written.set(contentId, new Uint8Array())
        return { contentId, write: (chunk) => Effect.sync(() => void written.set(contentId, Bytes.concat([written.get(contentId)!, chunk]))), finish: Effect.sync(() => void finished.set(contentId, written.get(contentId)!)) }
      }),
    keep: (_, ids) =>
      Effect.forEach(ids, (id) => {
        kept.set(id, finished.get(id)!)
        return after(id)
      }, { discard: true }),
    read: (_, id, chunk) => Effect.sync(() => chunk === 0 && (kept.get(id)?.length ?? 0) > 0 ? kept.get(id) : undefined),
    remove: (_, ids) => Effect.sync(() => ids.forEach((id) => kept.delete(id))),
    sweep: () => Effect.succeed(0)
  }
  return { contents, kept }
}

const contentOf = ({ documents }: StoredDocuments) =>
  Effect.map(Effect.forEach(documents.flatMap(({ files }) => files), ({ content }) => Stream.runCollect(content)), (files) => files.map((chunks) => Bytes.concat(chunks).length))

/** Three files in the service's own store, and a move to another. */
const begin = Effect.fnUntraced(function*(target = otherStore()) {
  const { carrier, documents, tenantId } = yield* setup
  const [source, store] = [yield* DocumentContents, yield* DocumentStore]
  yield* documents.upload(carrier, documentsSample({ documents: [{ documentType: "POD", files: [fileSample("PDF", 300_000), fileSample("PNG", 70)] }] }))
  yield* documents.upload(carrier, documentsSample({ invoiceNumber: "4712", documents: [{ documentType: "BOL", files: [fileSample("PDF", 9)] }] }))
  const move = yield* makeDocumentMove({ source, target: target.contents })
  const run = Effect.gen(function*() {
    const outcomes: Array<DocumentMoveOutcome> = []
    yield* move.files(tenantId, ({ outcome }) => Effect.sync(() => void outcomes.push(outcome)))
    return outcomes
  })
  const files = Effect.map(store.list(tenantId, { _tag: "All" }, { invoiceNumber: undefined, dot: undefined, mc: undefined, documentTypes: undefined }, { after: undefined, limit: 10 }), (records) =>
    records.flatMap((record) => record.files))
  /** Bytes of the service's files in both stores. */
  const read = Effect.flatMap(files, (found) => Effect.forEach(found, ({ contentId }) => {
    const both = inTwoStores(target.contents, source)
    return Effect.map(both.read(tenantId, contentId, 0), (bytes) => bytes?.length)
  }))
  return { carrier, documents, tenantId, source, target, move, run, files, read }
})

describe("moving documents", () => {
  it.effect("copies each file, and removes the former contents once downloads that began before have ended", Effect.fnUntraced(function*() {
    const { carrier, documents, files, move, read, run, source, target, tenantId } = yield* begin()
    const before = yield* files
    assert.isTrue((yield* read).every((length) => length! > 0))
    const download = yield* documents.get(carrier, "4711")
    assert.strictEqual(yield* move.count(tenantId), 3)
    assert.deepStrictEqual(yield* run, ["moved", "moved", "moved"])
    assert.deepStrictEqual([...target.kept.values()].map((bytes) => bytes.length).sort((a, b) => a - b), [9, 70, 300_000])
    assert.deepStrictEqual((yield* files).map(({ sha256, size }) => [sha256, size]), before.map(({ sha256, size }) => [sha256, size]))
    assert.isTrue((yield* files).every(({ contentId }) => target.kept.has(contentId)))
    assert.strictEqual(yield* move.clear(tenantId, 600_000), 3)
    // it has the ids of before
    assert.deepStrictEqual(yield* contentOf(download), [300_000, 70])
    yield* TestWaybill.pass("10 minutes")
    assert.strictEqual(yield* move.clear(tenantId, 600_000), 0)
    for (const { contentId } of before) assert.isUndefined(yield* source.read(tenantId, contentId, 0))
    assert.deepStrictEqual(yield* run, ["there", "there", "there"])
  }, inService))

  it.effect("looks at every record of more than one read", Effect.fnUntraced(function*() {
    const { carrier, documents, move, run, tenantId } = yield* begin()
    for (let n = 0; n < 101; n++) yield* documents.upload(carrier, documentsSample({ invoiceNumber: `N${n}`, documents: [{ documentType: "POD", files: [fileSample("PDF", 9)] }] }))
    assert.strictEqual(yield* move.count(tenantId), 104)
    assert.deepStrictEqual(yield* run, Array.from({ length: 104 }, () => "moved"))
  }, inService))

  it.effect("goes on after it was cut short, and leaves no copy that nobody knows of", Effect.fnUntraced(function*() {
    let failing = true
    const target = otherStore(() => failing ? Effect.fail(new StorageError({ operation: "DocumentContents.keep", cause: new Error("killed") })) : Effect.void)
    const { move, read, run, tenantId } = yield* begin(target)
    yield* Effect.flip(run)
    assert.strictEqual(target.kept.size, 1)
    failing = false
    assert.deepStrictEqual(yield* run, ["moved", "moved", "moved"])
    assert.strictEqual(yield* move.clear(tenantId, 0), 0)
    assert.strictEqual(target.kept.size, 3)
    assert.deepStrictEqual((yield* read).toSorted((a, b) => a! - b!), [9, 70, 300_000])
  }, inService))

  it.effect("keeps a file where it is when the target does not have the bytes that were sent to it", Effect.fnUntraced(function*() {
    const target: ReturnType<typeof otherStore> = otherStore((id) => Effect.sync(() => void target.kept.set(id, target.kept.get(id)!.map((byte, at) => at === 0 ? byte ^ 1 : byte))))
    const { files, move, run, source, tenantId } = yield* begin(target)
    assert.deepStrictEqual(yield* run, ["damaged", "damaged", "damaged"])
    for (const { contentId } of yield* files) assert.isDefined(yield* source.read(tenantId, contentId, 0))
    assert.strictEqual(yield* move.clear(tenantId, 0), 0)
    assert.strictEqual(target.kept.size, 0)
  }, inService))

  it.effect("leaves nothing of a file that is deleted while it is copied", Effect.fnUntraced(function*() {
    let remove: Effect.Effect<unknown> = Effect.void
    const target = otherStore(() => Effect.asVoid(remove))
    const { carrier, documents, files, move, run, tenantId } = yield* begin(target)
    remove = Effect.ignore(documents.remove(carrier, "4711"))
    assert.deepStrictEqual(yield* run, ["deleted", "deleted", "moved"])
    assert.strictEqual(yield* move.clear(tenantId, 0), 0)
    assert.deepStrictEqual([...target.kept.keys()], (yield* files).map(({ contentId }) => contentId))
  }, inService))

  it.effect("calls no file missing or damaged that another run has moved meanwhile", Effect.fnUntraced(function*() {
    let other: Effect.Effect<unknown, StorageError> = Effect.void
    const target = otherStore(() => Effect.suspend(() => {
      const now = other
      other = Effect.void
      return Effect.asVoid(now)
    }))
    const { move, run, tenantId } = yield* begin(target)
    other = Effect.andThen(run, move.clear(tenantId, 0))
    assert.deepStrictEqual(yield* run, ["there", "there", "there"])
  }, inService))

  it.effect("tells of a file whose bytes are in neither store", Effect.fnUntraced(function*() {
    const { files, run, source, tenantId } = yield* begin()
    yield* source.remove(tenantId, [(yield* files)[0]!.contentId])
    assert.deepStrictEqual(yield* run, ["missing", "moved", "moved"])
  }, inService))
})
