import { assert, describe, it } from "@effect/vitest"
import { Transaction } from "@waybill/core"
import { DocumentContents } from "@waybill/core/invoices"
import { Effect, Exit, Layer } from "effect"
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { onTestFinished, vi } from "vitest"
import { listening, urlOf } from "../program/Program.ts"
import { documentsLayer, DocumentsUnusable } from "../../src/serve/Documents.ts"

/** A storage whose contents must not be used. */
const database = Layer.mergeAll(
  Layer.succeed(Transaction, Transaction.of({ run: (effect) => effect, handle: Effect.void })),
  Layer.mock(DocumentContents, {})
)

const built = (settings: Parameters<typeof documentsLayer>[0]) =>
  Layer.provideMerge(documentsLayer(settings), database)

const refusal = (settings: Parameters<typeof documentsLayer>[0]) =>
  Effect.map(Effect.exit(Effect.scoped(Layer.build(built(settings)))), (exit) => {
    const error = Exit.isFailure(exit) ? exit.cause.reasons.map((reason) => "error" in reason ? reason.error : reason)[0] : undefined
    assert.instanceOf(error, DocumentsUnusable)
    return (error as DocumentsUnusable).message
  })

const temporary = () => {
  const dir = mkdtempSync(join(tmpdir(), "waybill-documents-"))
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

describe("the documents setting", () => {
  it.effect("selects a directory, which is created if absent", () => {
    const path = join(temporary(), "papers")
    return Effect.gen(function*() {
      const contents = yield* DocumentContents
      const transaction = yield* Transaction
      const kept = yield* Effect.scoped(Effect.gen(function*() {
        const writer = yield* contents.open("acme")
        yield* writer.write(new Uint8Array([1, 2, 3]))
        yield* writer.finish
        yield* transaction.run(contents.keep("acme", [writer.contentId]))
        return writer.contentId
      }))
      assert.deepStrictEqual(yield* contents.read("acme", kept, 0), new Uint8Array([1, 2, 3]))
      assert.isTrue(readdirSync(path, { recursive: true }).some((name) => String(name).endsWith(kept)))
    }).pipe(Effect.provide(built({ documents: { kind: "directory", path }, documentsAlso: undefined, s3Endpoint: undefined })))
  })

  it.effect("requires a writable directory, otherwise the start fails", Effect.fnUntraced(function*() {
    const file = join(temporary(), "file")
    writeFileSync(file, "")
    const message = yield* refusal({ documents: { kind: "directory", path: join(file, "papers") }, documentsAlso: undefined, s3Endpoint: undefined })
    assert.include(message, `Documents cannot be kept in ${join(file, "papers")}: `)
    assert.include(message, "Point WAYBILL_DOCUMENTS at a directory that this user may write to.")
  }))

  // Node's own recursive mkdir never ends there
  it.effect.skipIf(!existsSync("/proc/self"))("refuses a directory that cannot be created in /proc", Effect.fnUntraced(function*() {
    const message = yield* refusal({ documents: { kind: "directory", path: "/proc/waybill/papers" }, documentsAlso: undefined, s3Endpoint: undefined })
    assert.include(message, "Documents cannot be kept in /proc/waybill/papers: ENOENT")
    assert.include(yield* refusal({ documents: { kind: "directory", path: "/proc" }, documentsAlso: undefined, s3Endpoint: undefined }), "Documents cannot be kept in /proc: ENOENT")
  }))

  it.effect("selects a bucket in the region of the S3 client's own settings", () => {
    for (const name of ["AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"]) vi.stubEnv(name, undefined)
    for (const name of ["AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"]) vi.stubEnv(name, join(tmpdir(), "waybill-none"))
    onTestFinished(() => void vi.unstubAllEnvs())
    const settings = { documents: { kind: "s3", bucket: "papers", prefix: "" }, documentsAlso: undefined, s3Endpoint: "http://127.0.0.1:9" } as const
    return Effect.gen(function*() {
      assert.match(yield* refusal(settings), /^Documents cannot be kept in s3:\/\/papers: .*Set AWS_REGION/)
      vi.stubEnv("AWS_REGION", "eu-central-1")
      assert.match(yield* refusal(settings), /Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY/)
      vi.stubEnv("AWS_ACCESS_KEY_ID", "id")
      vi.stubEnv("AWS_SECRET_ACCESS_KEY", "key")
      // a store that does not answer may recover before the first upload
      yield* Effect.scoped(Layer.build(built(settings)))
    })
  })

  it.effect.each([
    [403, "SignatureDoesNotMatch", /Correct AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY\.$/],
    [403, "AccessDenied", /list and abort multipart uploads\.$/],
    [404, "NoSuchBucket", /Create the bucket, or correct WAYBILL_DOCUMENTS\.$/],
    [501, "NotImplemented", /This store has no multipart uploads, which documents need\. Use another one\.$/]
  ] as const)("does not start with a store that answers %s %s, and says what to do", ([status, code, hint]) => {
    vi.stubEnv("AWS_REGION", "eu-central-1")
    vi.stubEnv("AWS_ACCESS_KEY_ID", "id")
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "wrong")
    onTestFinished(() => void vi.unstubAllEnvs())
    return Effect.gen(function*() {
      const server = yield* Effect.promise(() => listening((_, response) =>
        void response.writeHead(status, { "content-type": "application/xml" }).end(`<?xml version="1.0"?><Error><Code>${code}</Code><Message>refused</Message></Error>`)))
      const message = yield* refusal({ documents: { kind: "s3", bucket: "papers", prefix: "" }, documentsAlso: undefined, s3Endpoint: urlOf(server) })
      assert.match(message, /^Documents cannot be kept in s3:\/\/papers: /)
      assert.match(message, hint)
    })
  })
})
