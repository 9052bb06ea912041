import { assert, describe, it } from "@effect/vitest"
import type { StoragePorts } from "@waybill/core"
import { DocumentContents } from "@waybill/core/invoices"
import { fileSample, StorageMemory } from "@waybill/testkit"
import { DocumentContentsSuite } from "@waybill/conformance/suites"
import { Effect, Layer } from "effect"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { DocumentContentsDirectory } from "../../src/index.ts"
import { deleteTenantWithDocuments } from "./DeletedTenant.ts"

const directory = mkdtempSync(join(tmpdir(), "waybill-documents-"))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const layerIn = (folder: string): Layer.Layer<StoragePorts, unknown> =>
  Layer.provideMerge(DocumentContentsDirectory.layer({ directory: join(directory, folder) }), Layer.fresh(StorageMemory.layer))

DocumentContentsSuite.suite("a directory", layerIn("suite"))

const filesIn = (folder: string) =>
  readdirSync(join(directory, folder), { recursive: true, withFileTypes: true }).filter((each) => each.isFile()).map((each) => join(each.parentPath, each.name))

describe("DocumentContentsDirectory", () => {
  it.effect("keeps each tenant's files in its own folder, unchanged", Effect.fnUntraced(function*() {
    const contents = yield* DocumentContents
    for (const tenantId of ["acme", "ACME", "../bolt", "a/b"]) {
      yield* Effect.scoped(Effect.gen(function*() {
        const writer = yield* contents.open(tenantId)
        yield* writer.write(fileSample("PDF", 300_000))
        yield* writer.finish
        yield* contents.keep(tenantId, [writer.contentId])
      }))
    }
    assert.deepStrictEqual(readdirSync(join(directory, "tenants")).sort(), ["%2e%2e%2fbolt", "%41%43%4d%45", "a%2fb", "acme"])
    const files = filesIn("tenants")
    assert.strictEqual(files.length, 4)
    for (const file of files) assert.strictEqual(Buffer.compare(readFileSync(file), fileSample("PDF", 300_000)), 0)
  }, Effect.provide(layerIn("tenants"))))

  it.live("has no file of a deleted tenant, and every file of others", () => {
    const folders = (name: string) => filesIn("deleted").filter((path) => path.includes(`/${name}/`)).length
    return deleteTenantWithDocuments(
      layerIn("deleted"),
      () => assert.deepStrictEqual([folders("gone"), folders("stays")], [5, 1]),
      () => assert.deepStrictEqual([folders("gone"), folders("stays")], [0, 1])
    )
  })

  it.effect("fails an upload when its directory is gone, and does not create it: a mount may be missing", () =>
    Effect.gen(function*() {
      const contents = yield* DocumentContents
      rmSync(join(directory, "gone"), { recursive: true })
      const error = yield* Effect.flip(Effect.scoped(contents.open("acme")))
      assert.strictEqual(error.operation, "DocumentContents.open")
      assert.isFalse(existsSync(join(directory, "gone")))
    }).pipe(Effect.provide(layerIn("gone"))))

  it.effect("leaves nothing of files that are not kept", () =>
    Effect.gen(function*() {
      const contents = yield* DocumentContents
      yield* Effect.ignore(Effect.scoped(Effect.gen(function*() {
        const writer = yield* contents.open("acme")
        yield* writer.write(fileSample("PDF", 10))
        assert.strictEqual(filesIn("nothing").length, 1)
        return yield* Effect.fail("given up")
      })))
      assert.deepStrictEqual(filesIn("nothing"), [])
    }).pipe(Effect.provide(layerIn("nothing"))))

  it.effect("reports why it cannot write", Effect.fnUntraced(function*() {
    for (const directory of ["/dev/null/documents", "/dev/null", "/proc/waybill", "/proc", "/absent/documents"]) {
      const error = yield* Effect.flip(Effect.scoped(Layer.build(DocumentContentsDirectory.layer({ directory }))))
      assert.strictEqual(error.operation, "DocumentContents.layer")
    }
  }, Effect.provide(StorageMemory.layer)))

  it.effect("builds paths only from ids of its own", Effect.fnUntraced(function*() {
    const contents = yield* DocumentContents
    for (const id of ["../../etc/passwd", "..", "/etc/passwd", "incoming", "\0", "0b8f2c1e-6f0a-7c3d-9a55-2d1f0c9e8b77/.."]) {
      assert.isUndefined(yield* contents.read("acme", id, 0))
      yield* Effect.flip(contents.keep("acme", [id]))
      yield* contents.remove("acme", [id])
    }
  }, Effect.provide(layerIn("odd"))))
})
