/** Conformance of `DocumentContents`. */
import type { StorageError, StoragePorts } from "@waybill/core"
import { DocumentContents } from "@waybill/core/invoices"
import { assert } from "@effect/vitest"
import { Bytes, Clock, Effect, Exit } from "effect"
import { idOf, rolledBack } from "../StorageFixtures.ts"
import { fileContent } from "./InvoiceFixtures.ts"
import { storeSuite } from "../StoreSuite.ts"

const maxChunkBytes = 256 * 1024

/** Writes a content in chunks of these lengths, repeatedly, and keeps it. */
const written = (tenantId: string, content: Uint8Array, lengths: ReadonlyArray<number>) =>
  Effect.scoped(Effect.gen(function*() {
    const contents = yield* DocumentContents
    const writer = yield* contents.open(tenantId)
    const buffer = new Uint8Array(Math.max(...lengths))
    for (let from = 0, n = 0; from < content.length; n++) {
      const chunk = content.subarray(from, from + lengths[n % lengths.length]!)
      // request readers reuse their buffer
      buffer.set(chunk)
      yield* writer.write(buffer.subarray(0, chunk.length))
      from += chunk.length
    }
    yield* writer.finish
    yield* contents.keep(tenantId, [writer.contentId])
    return writer.contentId
  }))

const chunks = Effect.fnUntraced(function*(tenantId: string, contentId: string) {
  const contents = yield* DocumentContents
  const read: Array<Uint8Array> = []
  while (true) {
    const chunk = yield* contents.read(tenantId, contentId, read.length)
    if (chunk === undefined) return read
    read.push(chunk)
  }
})

const sizes = (tenantId: string, contentId: string) => Effect.map(chunks(tenantId, contentId), (read) => Bytes.concat(read).length)

export const suite = storeSuite("DocumentContents", DocumentContents, (test) => {
  test("returns the written bytes in chunks of equal length except the last", function*({ tenantId }) {
    const content = fileContent(700_001)
    for (const lengths of [[700_001], [65_536], [1, 70_000, 13], [262_144, 0, 5]]) {
      const contentId = yield* written(tenantId, content, lengths)
      const read = yield* chunks(tenantId, contentId)
      assert.strictEqual(Buffer.compare(Bytes.concat(read), content), 0)
      const rest = read.pop()!
      assert.deepStrictEqual([...new Set(read.map((each) => each.length))], [read[0]!.length])
      assert.isAtMost(read[0]!.length, maxChunkBytes)
      assert.isAtMost(rest.length, read[0]!.length)
      assert.isAbove(rest.length, 0)
    }
  })

  test("keeps small contents, and the empty one", function*({ tenantId }) {
    for (const size of [0, 1, 5]) {
      const contentId = yield* written(tenantId, fileContent(size), [1])
      assert.strictEqual(yield* sizes(tenantId, contentId), size)
    }
  })

  /** A content that is not there once its writer has ended. */
  const testDiscarded = (sentence: string, bytes: number, before: (contents: DocumentContents["Service"], tenantId: string, contentId: string) => Effect.Effect<void, StorageError, StoragePorts>) =>
    test(sentence, function*({ store: contents, tenantId }) {
      const contentId = yield* Effect.scoped(Effect.gen(function*() {
        const writer = yield* contents.open(tenantId)
        yield* writer.write(fileContent(bytes))
        yield* writer.finish
        yield* before(contents, tenantId, writer.contentId)
        return writer.contentId
      }))
      assert.isUndefined(yield* contents.read(tenantId, contentId, 0))
      assert.strictEqual(yield* contents.sweep(tenantId, (yield* Clock.currentTimeMillis) + 600_000), 0)
    })

  testDiscarded("hides a content until it is kept, and discards it when its writer ends early", 600_000, (contents, tenantId, contentId) =>
    Effect.map(contents.read(tenantId, contentId, 0), (chunk) => assert.isUndefined(chunk)))

  testDiscarded("discards a content that a failed transaction kept", 300_000, (contents, tenantId, contentId) => rolledBack(contents.keep(tenantId, [contentId])))

  test("writes several contents concurrently", function*({ tenantId }) {
    const files = Array.from({ length: 8 }, (_, seed) => fileContent(300_000 + seed, seed))
    const contentIds = yield* Effect.all(files.map((file) => written(tenantId, file, [50_000])), { concurrency: "unbounded" })
    for (const [at, contentId] of contentIds.entries()) {
      assert.strictEqual(Buffer.compare(Bytes.concat(yield* chunks(tenantId, contentId)), files[at]!), 0)
    }
  })

  test("removes contents with all their chunks, and nothing else", function*({ store: contents, tenantId }) {
    const [one, two, three] = [yield* written(tenantId, fileContent(600_000), [60_000]), yield* written(tenantId, fileContent(10), [10]), yield* written(tenantId, fileContent(11), [10])]
    yield* contents.remove(tenantId, [one, two, idOf(1)])
    yield* contents.remove(tenantId, [])
    assert.deepStrictEqual([yield* sizes(tenantId, one), yield* sizes(tenantId, two), yield* sizes(tenantId, three)], [0, 0, 11])
  })

  test("restores removed contents when the transaction fails", function*({ store: contents, tenantId }) {
    const contentId = yield* written(tenantId, fileContent(10), [10])
    yield* rolledBack(contents.remove(tenantId, [contentId]))
    assert.strictEqual(yield* sizes(tenantId, contentId), 10)
  })

  test("sweeps only old contents that were never kept", function*({ store: contents, tenantId }) {
    const kept = yield* written(tenantId, fileContent(10), [10])
    yield* Effect.scoped(Effect.gen(function*() {
      const abandoned = yield* contents.open(tenantId)
      yield* abandoned.write(fileContent(300_000))
      const now = yield* Clock.currentTimeMillis
      assert.strictEqual(yield* contents.sweep(tenantId, now - 600_000), 0)
      assert.strictEqual(yield* contents.sweep(tenantId, now + 600_000), 1)
      assert.strictEqual(yield* contents.sweep(tenantId, now + 600_000), 0)
    }))
    assert.strictEqual(yield* sizes(tenantId, kept), 10)
  })

  test("refuses to keep a content that was swept before its writer finished", function*({ store: contents, tenantId }) {
    const contentId = yield* Effect.scoped(Effect.gen(function*() {
      const late = yield* contents.open(tenantId)
      yield* late.write(fileContent(300_000))
      assert.strictEqual(yield* contents.sweep(tenantId, (yield* Clock.currentTimeMillis) + 600_000), 1)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(Effect.andThen(late.finish, contents.keep(tenantId, [late.contentId])))))
      return late.contentId
    }))
    assert.isUndefined(yield* contents.read(tenantId, contentId, 0))
  })

  test("keeps no content of another tenant, no unknown and no malformed id, and fails", function*({ other, store: contents, tenantId: one, transaction }) {
    const kept = yield* written(one, fileContent(10), [10])
    const open = Effect.fnUntraced(function*(tenantId: string) {
      const writer = yield* contents.open(tenantId)
      yield* writer.write(fileContent(11))
      yield* writer.finish
      return writer.contentId
    })
    yield* Effect.scoped(Effect.gen(function*() {
      const [own, others] = [yield* open(one), yield* open(other)]
      for (const id of [own, kept, idOf(1), "garbage", ""]) {
        assert.isTrue(Exit.isFailure(yield* Effect.exit(transaction.run(contents.keep(other, [id])))), id)
        assert.isTrue(Exit.isFailure(yield* Effect.exit(transaction.run(contents.keep(other, [others, id])))), id)
      }
      for (const tenantId of [one, other]) for (const id of [own, others]) assert.strictEqual(yield* sizes(tenantId, id), 0)
      yield* contents.keep(one, [own])
      assert.strictEqual(yield* sizes(one, own), 11)
    }))
    assert.strictEqual(yield* sizes(one, kept), 10)
  })

  test("keeps a content again whose first keeping was rolled back, or fails", function*({ store: contents, tenantId }) {
    yield* Effect.scoped(Effect.gen(function*() {
      const writer = yield* contents.open(tenantId)
      yield* writer.write(fileContent(10))
      yield* writer.finish
      yield* rolledBack(contents.keep(tenantId, [writer.contentId]))
      const again = yield* Effect.exit(contents.keep(tenantId, [writer.contentId]))
      assert.strictEqual(yield* sizes(tenantId, writer.contentId), Exit.isSuccess(again) ? 10 : 0)
    }))
  })

  test("finds nothing for another tenant, an unknown id or a malformed id", function*({ other, store: contents, tenantId: one }) {
    const contentId = yield* written(one, fileContent(10), [10])
    for (const [tenantId, id] of [[other, contentId], [one, idOf(1)], [one, "garbage"], [one, ""]] as const) {
      assert.isUndefined(yield* contents.read(tenantId, id, 0))
    }
    assert.isUndefined(yield* contents.read(one, contentId, 1))
    yield* contents.remove(other, [contentId])
    yield* contents.remove(one, ["garbage", ""])
    assert.strictEqual(yield* sizes(one, contentId), 10)
  })
})
