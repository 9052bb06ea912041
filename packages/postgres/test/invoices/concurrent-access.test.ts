/** Documents while their viewers change, and while old contents are swept. */
import { layer } from "@effect/vitest"
import { Transaction } from "@waybill/core"
import { DocumentContents, DocumentStore, InvoiceStore } from "@waybill/core/invoices"
import { fixtures, invoiceFixtures } from "@waybill/conformance/suites"
import { Effect, Exit, Fiber } from "effect"
import { assert } from "vitest"
import { PgClient } from "../../src/index.ts"
import { untilOneIsBlocked } from "../OpenTransaction.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"
import { pauseNextRead } from "../PausedReads.ts"

const { accountsOf, acme, documentFile, documentRecord } = invoiceFixtures
const { bytesOf, freshTenant } = fixtures
const schema = freshSchema()

layer(testStorage(schema), { excludeTestServices: true })("documents that change while they are read", (it) => {
  it.effect("hides files from a viewer that were uploaded after it lost the record", Effect.fnUntraced(function*() {
    const documents = yield* DocumentStore
    const invoices = yield* InvoiceStore
    const transaction = yield* Transaction
    const tenantId = freshTenant()
    yield* documents.add(tenantId, documentRecord("N", { accounts: ["A"], files: [documentFile(1)] }))
    const resume = yield* pauseNextRead(schema, "document_records")
    const looking = yield* Effect.forkChild(documents.find(tenantId, accountsOf("A"), "N"))
    yield* untilOneIsBlocked
    yield* transaction.run(Effect.andThen(
      invoices.lock(tenantId, acme, " N"),
      documents.add(tenantId, documentRecord("N", { accounts: ["B"], files: [documentFile(2)] }))
    ))
    assert.isUndefined(yield* documents.find(tenantId, accountsOf("A"), "N"))
    yield* resume
    assert.deepStrictEqual((yield* Fiber.join(looking))?.files.map((each) => each.fileId), ["file 1"])
  }))

  it.effect("a swept content is not kept", Effect.fnUntraced(function*() {
    const contents = yield* DocumentContents
    const sql = yield* PgClient.PgClient
    const tenantId = freshTenant()
    const kept = yield* Effect.scoped(Effect.gen(function*() {
      const writer = yield* contents.open(tenantId)
      yield* writer.write(bytesOf("%PDF-1.7 one"))
      assert.strictEqual(yield* contents.sweep(tenantId, Date.now() + 60_000), 1)
      const finished = yield* Effect.exit(Effect.andThen(writer.finish, contents.keep(tenantId, [writer.contentId])))
      return { finished: Exit.isSuccess(finished), read: yield* contents.read(tenantId, writer.contentId, 0) }
    }))
    const [row] = yield* sql.unsafe<{ n: number }>(`SELECT count(*)::int AS n FROM "${schema}".document_chunks WHERE tenant_id = '${tenantId}'`)
    assert.deepStrictEqual([kept.finished, kept.read, row!.n], [false, undefined, 0])
  }))
})
