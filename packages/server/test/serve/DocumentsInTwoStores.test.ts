/** After a change of WAYBILL_DOCUMENTS, documents are in two stores, and everything works as with one. */
import { assert, describe, it } from "@effect/vitest"
import { type StoragePorts, Transaction } from "@waybill/core"
import { DocumentContents } from "@waybill/core/invoices"
import { fileSample, StorageMemory } from "@waybill/testkit"
import { DocumentContentsSuite } from "@waybill/conformance/suites"
import { Effect, Layer, Scope } from "effect"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import type { DocumentsPlace } from "../../src/config/Variables.ts"
import { documentsLayer } from "../../src/serve/Documents.ts"

const directory = mkdtempSync(join(tmpdir(), "waybill-two-stores-"))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const inDatabase: DocumentsPlace = { kind: "postgres" }
const inFolder = (name: string): DocumentsPlace => ({ kind: "directory", path: join(directory, name) })

const pairs: ReadonlyArray<readonly [string, DocumentsPlace, DocumentsPlace]> = [
  ["a directory, before it the database", inFolder("a"), inDatabase],
  ["the database, before it a directory", inDatabase, inFolder("b")],
  ["a directory, before it another one", inFolder("c"), inFolder("d")]
]

const over = (documents: DocumentsPlace, documentsAlso: DocumentsPlace | undefined, storage: Layer.Layer<StoragePorts, unknown>): Layer.Layer<StoragePorts, unknown> =>
  Layer.provideMerge(documentsLayer({ documents, documentsAlso, s3Endpoint: undefined }), storage)

for (const [name, documents, also] of pairs) DocumentContentsSuite.suite(name, over(documents, also, Layer.fresh(StorageMemory.layer)))

const file = fileSample("PDF", 600_000)

const upload = Effect.scoped(Effect.gen(function*() {
  const contents = yield* DocumentContents
  const writer = yield* contents.open("acme")
  yield* writer.write(file)
  yield* writer.finish
  yield* (yield* Transaction).run(contents.keep("acme", [writer.contentId]))
  return writer.contentId
}))

const sizeOf = Effect.fnUntraced(function*(contentId: string) {
  const contents = yield* DocumentContents
  let size = 0
  for (let chunk = 0;; chunk++) {
    const bytes = yield* contents.read("acme", contentId, chunk)
    if (bytes === undefined) return size
    size += bytes.length
  }
})

const removing = (contentId: string) => Effect.flatMap(DocumentContents, (contents) => contents.remove("acme", [contentId]))

describe.each(pairs)("documents in %s", (_, documents, also) => {
  it.effect("are read and deleted in both, and added to the first", Effect.fnUntraced(function*() {
    const database = yield* Layer.build(Layer.fresh(StorageMemory.layer)).pipe(Scope.provide(yield* Effect.scope))
    const storage = Layer.succeedContext(database)
    const as = (first: DocumentsPlace, second: DocumentsPlace | undefined) => <A, E>(effect: Effect.Effect<A, E, DocumentContents | Transaction>) =>
      Effect.provide(effect, over(first, second, storage))
    const before = as(also, undefined)
    const after = as(documents, also)
    const without = as(documents, undefined)

    const older = yield* before(upload)
    const newer = yield* after(upload)
    assert.deepStrictEqual(yield* after(Effect.all([sizeOf(older), sizeOf(newer)])), [file.length, file.length])
    assert.deepStrictEqual(yield* without(Effect.all([sizeOf(older), sizeOf(newer)])), [0, file.length])
    assert.strictEqual(yield* before(sizeOf(newer)), 0)

    yield* after(Effect.flatMap(Transaction, (transaction) =>
      Effect.flip(transaction.run(Effect.andThen(Effect.andThen(removing(older), removing(newer)), Effect.fail("refused"))))))
    assert.deepStrictEqual(yield* after(Effect.all([sizeOf(older), sizeOf(newer)])), [file.length, file.length])

    yield* after(Effect.flatMap(Transaction, (transaction) => transaction.run(Effect.andThen(removing(older), removing(newer)))))
    assert.deepStrictEqual(yield* after(Effect.all([sizeOf(older), sizeOf(newer)])), [0, 0])
    const folders = [documents, also].flatMap((place) => place.kind === "directory" ? [place.path] : [])
    const left = folders.flatMap((path) => readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile() && entry.parentPath.includes("acme")))
    assert.deepStrictEqual(left, [])
  }))
})
