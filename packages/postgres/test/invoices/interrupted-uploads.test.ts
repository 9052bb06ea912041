/** An upload whose caller leaves while Postgres commits it, with its files outside the database. */
import { it } from "@effect/vitest"
import { InvoiceDocuments } from "@waybill/core/invoices"
import { DocumentContentsDirectory } from "@waybill/http"
import { documentsSample, fileSample, TestWaybill } from "@waybill/testkit"
import { Effect, Fiber, Layer, Stream } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert } from "vitest"
import { openTransaction, untilOneIsBlocked } from "../OpenTransaction.ts"
import { rowsIn, testService } from "../TestService.ts"
import { freshSchema, testStorage } from "../TestStorage.ts"
import { PgClient } from "../../src/index.ts"

const directory = mkdtempSync(join(tmpdir(), "waybill-interrupted-"))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const schema = freshSchema()
const rows = rowsIn(schema)

const storage = Layer.provideMerge(DocumentContentsDirectory.layer({ directory }), testStorage(schema))

it.live("an upload that is interrupted while it commits has its files if it has its record", () =>
  Effect.gen(function*() {
    const sql = yield* PgClient.PgClient
    const documents = yield* InvoiceDocuments
    const { carrier } = yield* TestWaybill.tenant("acme")
    // each commit waits until the test gives up the lock
    yield* rows(`CREATE FUNCTION @wait() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_advisory_xact_lock(4711, 1); RETURN NULL; END'`)
    yield* rows(`CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON @document_records DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION @wait()`)
    const releaseLock = yield* openTransaction(sql`SELECT pg_advisory_xact_lock(4711, 1)::text`)
    const uploading = yield* Effect.forkChild(documents.upload(carrier, documentsSample({ documents: [{ documentType: "POD", files: [fileSample("PDF", 1000)] }] })))
    yield* untilOneIsBlocked
    const leaving = yield* Effect.forkChild(Fiber.interrupt(uploading), { startImmediately: true })
    yield* releaseLock
    yield* Fiber.join(leaving)
    const [file] = (yield* documents.get(carrier, "4711")).documents[0]!.files
    assert.strictEqual(yield* Stream.runFold(file!.content, () => 0, (sum, { length }) => sum + length), 1000)
  }).pipe(Effect.provide(testService(storage))))
