import { assert, describe, it } from "@effect/vitest"
import { Transaction } from "@waybill/core"
import { DocumentContents, maxFileBytes, maxFilesPerUpload, maxInvoiceBytes, type StoredDocuments, type StoredFile } from "@waybill/core/invoices"
import { documentsSample, fileSample } from "@waybill/testkit"
import { Bytes, Data, Effect, Stream } from "effect"
import * as Clock from "effect/Clock"
import { createHash } from "node:crypto"
import { int, json, listOf, oneOf } from "../arbitraries.ts"
import { inService } from "../inService.ts"
import { faultsOf, oddTexts, setup, tagOf } from "./Billing.ts"
import { untyped } from "../untyped.ts"

class Refused extends Data.TaggedError("Refused")<{}> {}

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64")
const sha256 = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex")

const contentOf = (file: StoredFile) => Effect.map(Stream.runCollect(file.content), (chunks) => Bytes.concat(chunks))

const shapeOf = ({ documents }: StoredDocuments) => documents.map(({ documentType, files }) => `${documentType}: ${files.map((each) => each.size).join(" ")}`)

/** Contents of the tenant that were started and not kept. */
const leftOver = (tenantId: string) =>
  Effect.flatMap(Effect.all([DocumentContents, Clock.currentTimeMillis]), ([contents, now]) => contents.sweep(tenantId, now + 1))

const pdf = fileSample("PDF", 100)

describe("uploading documents", () => {
  it.effect("stores files by type in order, with size, hash and media type, and the record as sent", Effect.fnUntraced(function*() {
    const { carrier, documents } = yield* setup
    const png = fileSample("PNG", 70_000)
    const tif = fileSample("TIF", 8)
    const jpeg = fileSample("JPEG", 3)
    const sample = documentsSample({
      documents: [{ documentType: "POD", files: [base64(png), pdf] }, { documentType: "W&I", files: [tif] }, { documentType: "POD", files: [jpeg] }],
      more: { unknown: { deep: [null, "ä"] }, comments: [{ commentText: "c" }] }
    })
    const answer = yield* documents.upload(carrier, sample)
    assert.strictEqual(answer.message, "4 files were added to invoice number 4711.")
    const stored = yield* documents.get(carrier, "4711")
    const { documents: _, ...record } = sample
    assert.strictEqual(JSON.stringify(stored.record), JSON.stringify(record))
    assert.deepStrictEqual(shapeOf(stored), ["POD: 70000 100 3", "W&I: 8"])
    const files = stored.documents.flatMap((each) => each.files)
    assert.sameMembers(files.map((each) => each.id), [...answer.fileIds])
    assert.deepStrictEqual(files.map((each) => each.mediaType), ["image/png", "application/pdf", "image/jpeg", "image/tiff"])
    for (const [at, bytes] of [png, pdf, jpeg, tif].entries()) {
      assert.strictEqual(files[at]!.sha256, sha256(bytes))
      assert.strictEqual(Buffer.compare(yield* contentOf(files[at]!), bytes), 0)
    }
    assert.deepStrictEqual((yield* documents.history(carrier, "4711")).map(({ action, client, comments, files: added }) => ({ action, client, comments, ids: added.map((each) => each.id) })), [
      { action: "documents added", client: "carrier", comments: [{ commentText: "c" }], ids: [...answer.fileIds] }
    ])
  }, inService))

  it.effect("adds to existing files, separately per carrier (SPEC-GAP-B15)", Effect.fnUntraced(function*() {
    const { carrier, documents } = yield* setup
    yield* documents.upload(carrier, documentsSample())
    yield* documents.upload(carrier, documentsSample({ shipmentID: "other", documents: [{ documentType: "BOL", files: [fileSample("PDF", 7)] }], more: { documentSource: "again" } }))
    yield* documents.upload(carrier, documentsSample({ DOT: "9", documents: [{ documentType: "POD", files: [fileSample("PDF", 9)] }] }))
    const mine = yield* documents.get(carrier, "4711", { DOT: "1234567" })
    assert.deepStrictEqual(shapeOf(mine), ["POD: 100", "BOL: 7"])
    assert.deepStrictEqual([mine.record["shipmentID"], mine.record["documentSource"]], ["other", "again"])
    assert.deepStrictEqual(shapeOf(yield* documents.get(carrier, "4711")), ["POD: 9"])
  }, inService))

  it.effect.prop("gives the same result for chunks of any length", [
    oneOf(["PDF", "TIF", "JPEG", "PNG", "none"] as const),
    int(0, 300),
    listOf(int(0, 60), 1, 8)
  ], ([format, size, lengths]) =>
    inService(Effect.gen(function*() {
      const { carrier, documents, tenantId } = yield* setup
      const content = format === "none" ? new Uint8Array(size).fill(0x25) : fileSample(format, size)
      const outcomes = yield* Effect.forEach([[content.length + 1], [1], lengths], (cuts) =>
        Effect.scoped(Effect.gen(function*() {
          const upload = yield* documents.begin(carrier)
          const writer = yield* upload.file("/documents/0/files/0")
          const buffer = new Uint8Array(400)
          for (let from = 0, n = 0; from < content.length; n++) {
            const chunk = content.subarray(from, from + Math.max(n % cuts.length === 0 ? 1 : 0, cuts[n % cuts.length]!))
            buffer.set(chunk)
            yield* writer.write(buffer.subarray(0, chunk.length))
            from += chunk.length
          }
          yield* writer.end
          yield* upload.finish(documentsSample({ documents: [{ documentType: "POD", files: [writer.fileId] }] }))
          const [file] = (yield* documents.get(carrier, "4711")).documents.flatMap((each) => each.files)
          assert.strictEqual(Buffer.compare(yield* contentOf(file!), content), 0)
          yield* documents.remove(carrier, "4711")
          return `${file!.size} ${file!.sha256} ${file!.mediaType}`
        })).pipe(Effect.catchTag("FileFormatUnknown", (error) => Effect.succeed(error.message))))
      assert.deepStrictEqual(outcomes, [outcomes[0]!, outcomes[0]!, outcomes[0]!])
      if (outcomes[0]!.startsWith(`${size} `)) assert.include(outcomes[0], sha256(content))
      else assert.isTrue(format === "none" || size < 8)
      assert.strictEqual(yield* leftOver(tenantId), 0)
    })))

  it.effect("accepts 25 MiB, and refuses one more byte as soon as it arrives, in chunks of any length (SPEC-GAP-B12)", Effect.fnUntraced(function*() {
    const { carrier, documents, tenantId } = yield* setup
    const whole = fileSample("PDF", maxFileBytes)
    yield* documents.upload(carrier, documentsSample({ documents: [{ documentType: "POD", files: [whole] }] }))
    const tooMuch = documentsSample({ documents: [{ documentType: "POD", files: [pdf] }, { documentType: "BOL", files: [pdf, Bytes.concat([whole, pdf])] }] })
    const refused = yield* Effect.flip(documents.upload(carrier, tooMuch))
    assert.deepStrictEqual(refused._tag === "FileTooLarge" && [refused.pointer, refused.maxBytes], ["/documents/1/files/1", maxFileBytes])
    yield* Effect.scoped(Effect.gen(function*() {
      const upload = yield* documents.begin(carrier)
      const writer = yield* upload.file("/documents/0/files/0")
      yield* writer.write(whole.subarray(0, maxFileBytes - 1))
      yield* writer.write(whole.subarray(0, 1))
      yield* writer.write(new Uint8Array(0))
      assert.strictEqual(yield* tagOf(writer.write(new Uint8Array(1))), "FileTooLarge")
      assert.strictEqual(yield* tagOf(writer.write(new Uint8Array(0))), "FileTooLarge")
      yield* writer.end
      const record = documentsSample({ documents: [{ documentType: "POD", files: [writer.fileId] }] })
      assert.deepStrictEqual((yield* faultsOf(upload.finish(record))).map((each) => each.pointer), ["/documents/0/files/0"])
    }))
    assert.deepStrictEqual(shapeOf(yield* documents.get(carrier, "4711")), [`POD: ${maxFileBytes}`])
    assert.strictEqual(yield* leftOver(tenantId), 0)
  }, inService))

  it.effect("refuses other formats at their first bytes, and invalid base64", Effect.fnUntraced(function*() {
    const { carrier, documents, tenantId } = yield* setup
    const upload = (file: unknown) => documents.upload(carrier, documentsSample(untyped({ documents: [{ documentType: "POD", files: [file] }] })))
    const zip = Uint8Array.of(0x50, 0x4b, 3, 4)
    for (const file of [zip, base64(zip), "", new Uint8Array(0), base64(Buffer.from(base64(pdf)))]) {
      assert.strictEqual(yield* tagOf(upload(file)), "FileFormatUnknown")
    }
    for (const file of [`data:application/pdf;base64,${base64(pdf)}`, `${base64(pdf)}!`, base64(pdf).slice(0, -3), base64(fileSample("PNG", 9)).replace("/", "_").replace("+", "-").concat("_")]) {
      assert.deepStrictEqual((yield* faultsOf(upload(file))).map((each) => each.pointer), ["/documents/0/files/0"])
    }
    yield* Effect.scoped(Effect.gen(function*() {
      const writer = yield* (yield* documents.begin(carrier)).file("/x")
      assert.strictEqual(yield* tagOf(writer.write(Uint8Array.of(0x25, 0x51))), "FileFormatUnknown")
      assert.strictEqual(yield* tagOf(writer.write(pdf)), "FileFormatUnknown")
      assert.strictEqual(yield* tagOf(writer.end), "FileFormatUnknown")
    }))
    assert.deepStrictEqual((yield* documents.list(carrier, {})).data, [])
    assert.strictEqual(yield* leftOver(tenantId), 0)
  }, inService))

  it.effect("lists the faults of an invalid record, and stores nothing", Effect.fnUntraced(function*() {
    const { carrier, documents, tenantId } = yield* setup
    const bad: ReadonlyArray<readonly [unknown, ReadonlyArray<string>]> = [
      [documentsSample({ documents: [] }), ["/documents"]],
      [documentsSample({ documents: [{ documentType: "POD", files: [] }] }), ["/documents/0/files"]],
      [documentsSample(untyped({ documents: [{ documentType: "pod", files: [pdf, 5] }] })), ["/documents/0/documentType", "/documents/0/files/1"]],
      [documentsSample({ DOT: "", MC: "-" }), ["/DOT"]],
      [documentsSample({ invoiceNumber: " 1", more: { invoiceDate: "20.11.2026" } }), ["/invoiceDate", "/invoiceNumber"]],
      [documentsSample({ more: { documents: "x" } }), ["/documents"]],
      [documentsSample({ more: { documents: [5, { documentType: "POD" }] } }), ["/documents/0", "/documents/1/files"]],
      [{ documents: [{ documentType: "POD", files: [pdf] }] }, ["/DOT", "/MC", "/invoiceDate", "/invoiceNumber", "/shipmentID", "/uniqueID"]],
      [documentsSample({ more: { note: "x".repeat(maxInvoiceBytes) } }), [""]],
      ["text", [""]],
      [undefined, [""]]
    ]
    for (const [input, pointers] of bad) {
      assert.deepStrictEqual((yield* faultsOf(documents.upload(carrier, untyped(input)))).map((each) => each.pointer).toSorted(), pointers)
    }
    assert.deepStrictEqual((yield* documents.list(carrier, {})).data, [])
    assert.strictEqual(yield* leftOver(tenantId), 0)
  }, inService))

  it.effect("requires every sent file to be named exactly once", Effect.fnUntraced(function*() {
    const { carrier, documents, tenantId } = yield* setup
    yield* Effect.scoped(Effect.gen(function*() {
      const upload = yield* documents.begin(carrier)
      const write = Effect.gen(function*() {
        const writer = yield* upload.file("/x")
        yield* writer.write(pdf)
        yield* writer.end
        return writer.fileId
      })
      const [one, two] = [yield* write, yield* write]
      const open = yield* upload.file("/y")
      yield* open.write(pdf)
      const finish = (...files: ReadonlyArray<string>) => upload.finish(documentsSample({ documents: [{ documentType: "POD", files }] }))
      assert.deepStrictEqual((yield* faultsOf(finish(one))).map((each) => each.pointer), ["/documents"])
      assert.deepStrictEqual((yield* faultsOf(finish(one, two, one))).map((each) => each.pointer), ["/documents/0/files/2"])
      assert.deepStrictEqual((yield* faultsOf(finish(one, two, "unknown"))).map((each) => each.pointer), ["/documents/0/files/2"])
      assert.deepStrictEqual((yield* faultsOf(finish(one, two, open.fileId))).map((each) => each.pointer), ["/documents/0/files/2"])
      assert.deepStrictEqual((yield* finish(two, one)).fileIds, [two, one])
      assert.deepStrictEqual((yield* faultsOf(finish(two, one))).map((each) => each.pointer), ["/documents/0/files/0"])
    }))
    assert.strictEqual(yield* leftOver(tenantId), 0)
    assert.deepStrictEqual(shapeOf(yield* documents.get(carrier, "4711")), ["POD: 100 100"])
  }, inService))

  it.effect("accepts at most 100 files per upload", Effect.fnUntraced(function*() {
    const { carrier, documents } = yield* setup
    const many = (count: number) => documents.upload(carrier, documentsSample({ documents: [{ documentType: "POD", files: Array.from({ length: count }, () => pdf) }] }))
    assert.deepStrictEqual((yield* faultsOf(many(maxFilesPerUpload + 1))).map((each) => each.code), ["out_of_bounds"])
    assert.lengthOf((yield* many(maxFilesPerUpload)).fileIds, maxFilesPerUpload)
    assert.deepStrictEqual([(yield* many(1)).message, (yield* many(2)).message], ["1 file was added to invoice number 4711.", "2 files were added to invoice number 4711."])
    yield* Effect.scoped(Effect.gen(function*() {
      const upload = yield* documents.begin(carrier)
      for (let n = 0; n < maxFilesPerUpload; n++) yield* upload.file("/x")
      assert.deepStrictEqual((yield* faultsOf(upload.file("/x"))).map(({ code, pointer }) => [pointer, code]), [["/documents", "out_of_bounds"]])
    }))
  }, inService))

  it.effect("stores nothing if it is interrupted, or if the surrounding transaction fails", Effect.fnUntraced(function*() {
    const { carrier, documents, tenantId } = yield* setup
    const transaction = yield* Transaction
    yield* Effect.flip(Effect.scoped(Effect.gen(function*() {
      const writer = yield* (yield* documents.begin(carrier)).file("/x")
      yield* writer.write(fileSample("PDF", 300_000))
      yield* writer.end
      return yield* new Refused()
    })))
    yield* Effect.flip(transaction.run(Effect.andThen(documents.upload(carrier, documentsSample()), Effect.fail(new Refused()))))
    assert.deepStrictEqual((yield* documents.list(carrier, {})).data, [])
    assert.strictEqual(yield* leftOver(tenantId), 0)
    assert.strictEqual(yield* tagOf(documents.history(carrier, "4711", { DOT: "1234567", MC: "765432" })), "DocumentNotFound")
  }, inService))

  it.effect.prop("handles arbitrary input", [json, oneOf(oddTexts)], Effect.fnUntraced(function*([garbage, id]) {
    const { carrier, documents, tenantId } = yield* setup
    const calls = [
      documents.upload(carrier, untyped(garbage)),
      documents.upload(carrier, documentsSample({ more: { documents: garbage } })),
      documents.upload(carrier, documentsSample(untyped({ documents: [{ documentType: "POD", files: [pdf, garbage] }] }))),
      documents.list(carrier, untyped(garbage)),
      documents.get(carrier, id, untyped(garbage)),
      documents.remove(carrier, id, untyped(garbage)),
      documents.history(carrier, id, untyped(garbage))
    ]
    for (const call of calls) {
      const result = yield* Effect.result(call as Effect.Effect<unknown, { readonly _tag: string }>)
      if (result._tag === "Failure") assert.include(["InvalidInput", "DocumentNotFound", "FileFormatUnknown"], result.failure._tag)
    }
    assert.deepStrictEqual((yield* documents.list(carrier, {})).data, [])
    assert.strictEqual(yield* leftOver(tenantId), 0)
  }, inService))
})

describe("reading documents", () => {
  it.effect("fails if the content is truncated or damaged", Effect.fnUntraced(function*() {
    const { carrier, documents } = yield* setup
    const contents = yield* DocumentContents
    yield* documents.upload(carrier, documentsSample({ documents: [{ documentType: "POD", files: [fileSample("PDF", 200_000)] }] }))
    const [file] = (yield* documents.get(carrier, "4711")).documents.flatMap((each) => each.files)
    const [first] = yield* Stream.runCollect(Stream.take(file!.content, 1))
    first![100] = first![100]! + 1
    assert.strictEqual(yield* tagOf(contentOf(file!)), "StorageError")
    first![100] = first![100]! - 1
    assert.strictEqual((yield* contentOf(file!)).length, 200_000)
    yield* documents.remove(carrier, "4711")
    assert.strictEqual(yield* tagOf(contentOf(file!)), "StorageError")
    assert.isUndefined(yield* contents.read("acme", file!.id, 0))
  }, inService))

  it.effect("lists by invoice number with all filters combined, and shows only the requested types", Effect.fnUntraced(function*() {
    const { carrier, documents } = yield* setup
    const both = [{ documentType: "POD", files: [pdf] }, { documentType: "W&I", files: [fileSample("PNG", 9)] }]
    yield* documents.upload(carrier, documentsSample(untyped({ invoiceNumber: "1", DOT: "1", MC: "2", documents: both })))
    yield* documents.upload(carrier, documentsSample({ invoiceNumber: "2", DOT: "1", MC: "2" }))
    yield* documents.upload(carrier, documentsSample({ invoiceNumber: "2", DOT: "9", MC: "2" }))
    const listed = (query: unknown) =>
      Effect.map(documents.list(carrier, untyped(query)), ({ data }) => data.map((each) => `${String(each.record["invoiceNumber"])} ${String(each.record["DOT"])} ${shapeOf(each).join(", ")}`))
    assert.deepStrictEqual(yield* listed({}), ["1 1 POD: 100, W&I: 9", "2 1 POD: 100", "2 9 POD: 100"])
    assert.deepStrictEqual(yield* listed({ documentType: ["W&I", "BOL"] }), ["1 1 W&I: 9"])
    assert.deepStrictEqual(yield* listed({ DOT: "DOT 1", MC: "2", invoiceNumber: "2" }), ["2 1 POD: 100"])
    assert.deepStrictEqual(yield* listed({ DOT: "9", documentType: ["W&I"] }), [])
    for (const [query, pointer] of [[{ documentType: ["pod"] }, "/documentType/0"], [{ documentType: [] }, "/documentType"], [{ invoiceNo: "1" }, "/invoiceNo"], [{ limit: 101 }, "/limit"], [{ cursor: "%" }, "/cursor"]] as const) {
      assert.deepStrictEqual((yield* faultsOf(documents.list(carrier, untyped(query)))).map((each) => each.pointer), [pointer])
    }
  }, inService))

  it.effect("continues after the previous page, at any limit (SPEC-GAP-B14)", Effect.fnUntraced(function*() {
    const { carrier, documents } = yield* setup
    for (let n = 0; n < 7; n++) yield* documents.upload(carrier, documentsSample({ invoiceNumber: `N${n}` }))
    for (const limit of [1, 3, 7, 100]) {
      const walked: Array<unknown> = []
      let cursor: string | undefined
      do {
        const page = yield* documents.list(carrier, { limit, ...(cursor === undefined ? {} : { cursor }) })
        walked.push(...page.data.map((each) => each.record["invoiceNumber"]))
        cursor = page.nextCursor
      } while (cursor !== undefined)
      assert.deepStrictEqual(walked, ["N0", "N1", "N2", "N3", "N4", "N5", "N6"])
    }
  }, inService))
})

describe("a page of large records", () => {
  it.effect("ends early, so that a response does not hold them all", Effect.fnUntraced(function*() {
    const { carrier, documents } = yield* setup
    const more = { note: Array.from({ length: 900 }, () => "x".repeat(1000)) }
    for (let n = 0; n < 7; n++) yield* documents.upload(carrier, documentsSample({ invoiceNumber: `N${n}`, more }))
    const first = yield* documents.list(carrier)
    const second = yield* documents.list(carrier, { cursor: first.nextCursor! })
    assert.deepStrictEqual([first.data.length, second.data.map(({ record }) => record["invoiceNumber"]), second.nextCursor], [4, ["N4", "N5", "N6"], undefined])
  }, inService))
})

describe("deleting documents", () => {
  it.effect("deletes the named files, all or none, then all files", Effect.fnUntraced(function*() {
    const { carrier, documents } = yield* setup
    const { fileIds } = yield* documents.upload(carrier, documentsSample({ documents: [{ documentType: "POD", files: [pdf, fileSample("PDF", 5), fileSample("PDF", 6)] }] }))
    const kept = (yield* documents.get(carrier, "4711")).documents.flatMap((each) => each.files)
    for (const named of [["unknown"], [fileIds[0], "unknown"], [], ["\u0000"]]) {
      assert.strictEqual(yield* tagOf(documents.remove(carrier, "4711", untyped({ fileIds: named }))), "DocumentNotFound")
    }
    assert.deepStrictEqual(yield* documents.remove(carrier, "4711", untyped({ fileIds: [fileIds[1]], comments: { commentText: "blurred" } })), {
      message: "1 file was deleted from invoice number 4711."
    })
    assert.deepStrictEqual(shapeOf(yield* documents.get(carrier, "4711")), ["POD: 100 6"])
    assert.strictEqual(yield* tagOf(contentOf(kept[1]!)), "StorageError")
    assert.strictEqual((yield* contentOf(kept[2]!)).length, 6)
    assert.strictEqual((yield* documents.remove(carrier, "4711")).message, "2 files were deleted from invoice number 4711.")
    for (const call of [documents.get(carrier, "4711"), documents.remove(carrier, "4711"), documents.history(carrier, "4711")]) {
      assert.strictEqual(yield* tagOf(call as Effect.Effect<unknown, { readonly _tag: string }>), "DocumentNotFound")
    }
    const history = yield* documents.history(carrier, "4711", { DOT: "1234567", MC: "765432" })
    assert.deepStrictEqual(history.map(({ action, comments, files }) => [action, comments, files.map((each) => each.size)]), [
      ["documents added", [], [100, 5, 6]],
      ["documents deleted", [{ commentText: "blurred" }], [5]],
      ["documents deleted", [], [100, 6]]
    ])
  }, inService))

  it.effect("refuses to choose among several carriers (SPEC-GAP-B11)", Effect.fnUntraced(function*() {
    const { carrier, documents, of } = yield* setup
    for (const DOT of ["1", "2"]) yield* documents.upload(carrier, documentsSample({ DOT }))
    const [fault] = yield* faultsOf(documents.remove(carrier, "4711"))
    assert.deepStrictEqual([fault!.pointer, fault!.code], ["/invoiceNumber", "conflict"])
    yield* documents.remove(carrier, "4711", { DOT: "1" })
    yield* documents.remove(of({ dot: "2" }), "4711")
    assert.deepStrictEqual((yield* documents.list(carrier, {})).data, [])
  }, inService))

  it.effect("rolls back files and record if the surrounding transaction fails", Effect.fnUntraced(function*() {
    const { carrier, documents } = yield* setup
    const transaction = yield* Transaction
    yield* documents.upload(carrier, documentsSample())
    yield* Effect.flip(transaction.run(Effect.andThen(documents.remove(carrier, "4711"), Effect.fail(new Refused()))))
    const [file] = (yield* documents.get(carrier, "4711")).documents.flatMap((each) => each.files)
    assert.strictEqual(Buffer.compare(yield* contentOf(file!), pdf), 0)
  }, inService))
})
