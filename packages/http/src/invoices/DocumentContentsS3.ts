/** Document contents in S3 or a compatible store, with the S3 client of the host. */
import { StorageError } from "@waybill/core"
import { type ContentWriter, DocumentContents } from "@waybill/core/invoices"
import { Effect, Layer } from "effect"
import { randomUUID } from "node:crypto"
import { attempt, chunkBytes, contentNotThere, externalDocumentContents, isContentId } from "./ExternalDocumentContents.ts"

/** Minimum part size of S3, except for the last part; each upload in progress uses this much memory. */
const partBytes = 5 * 1024 * 1024

/** How long a call may take, its retries by the client included. Clients of S3 wait for an answer without a limit by default. */
const answerMillis = 60_000

/** Options of a call. */
interface CallOptions {
  readonly abortSignal: AbortSignal
}

interface At {
  readonly Bucket: string
  readonly Key: string
}

interface Upload extends At {
  readonly UploadId: string
}

interface Part {
  readonly PartNumber: number
  readonly ETag: string | undefined
}

interface PageStart {
  readonly KeyMarker?: string
  readonly UploadIdMarker?: string
}

/** The used methods of `S3` from `@aws-sdk/client-s3`. */
export interface S3Calls {
  createMultipartUpload(input: At & { readonly ContentType?: string }, options?: CallOptions): Promise<{ readonly UploadId?: string | undefined }>
  uploadPart(input: Upload & { readonly PartNumber: number; readonly Body: Uint8Array }, options?: CallOptions): Promise<{ readonly ETag?: string | undefined }>
  completeMultipartUpload(input: Upload & { readonly MultipartUpload: { readonly Parts: Array<{ PartNumber: number; ETag: string | undefined }> } }, options?: CallOptions): Promise<unknown>
  abortMultipartUpload(input: Upload, options?: CallOptions): Promise<unknown>
  listMultipartUploads(input: { readonly Bucket: string; readonly Prefix: string; readonly KeyMarker?: string; readonly UploadIdMarker?: string }, options?: CallOptions): Promise<{
    readonly Uploads?: ReadonlyArray<{ readonly Key?: string | undefined; readonly UploadId?: string | undefined; readonly Initiated?: Date | undefined }> | undefined
    readonly IsTruncated?: boolean | undefined
    readonly NextKeyMarker?: string | undefined
    readonly NextUploadIdMarker?: string | undefined
  }>
  getObject(input: At & { readonly Range: string }, options?: CallOptions): Promise<{ readonly Body?: { transformToByteArray(): Promise<Uint8Array> } | undefined }>
  deleteObject(input: At, options?: CallOptions): Promise<unknown>
}

/** Where files of documents are. */
export interface DocumentContentsS3Options {
  /** `new S3({ region, … })`. The caller destroys it. */
  readonly client: S3Calls
  readonly bucket: string
  /** Prefix of every key, such as `waybill/`. */
  readonly prefix?: string
}

/** Files of documents in a bucket of S3 or a compatible store. */
export const DocumentContentsS3 = {
  /** Replaces the storage's `DocumentContents`, and follows the storage's transactions. */
  layer: (options: DocumentContentsS3Options) => externalDocumentContents(Layer.sync(DocumentContents, () => make(options)))
}

const make = ({ bucket, client, prefix = "" }: DocumentContentsS3Options): DocumentContents["Service"] => {
  const folderOf = (tenantId: string) => `${prefix}${encodeURIComponent(tenantId)}/`
  const placeOf = (tenantId: string, contentId: string): At => ({ Bucket: bucket, Key: `${folderOf(tenantId)}${contentId}` })
  /** Finished uploads by key, until their writer ends. */
  const finished = new Map<string, { readonly upload: Upload; readonly parts: Array<Part>; kept: boolean }>()

  const begin = (at: At) =>
    answered("open", async (options): Promise<Upload> => {
      const { UploadId } = await client.createMultipartUpload({ ...at, ContentType: "application/octet-stream" }, options)
      if (UploadId === undefined) throw new Error("The answer has no UploadId.")
      return { ...at, UploadId }
    })

  const abort = (upload: Upload) => answered("abort", (options) => unlessAbsent(client.abortMultipartUpload(upload, options)))

  const open = Effect.fnUntraced(function*(tenantId: string) {
    const contentId = randomUUID()
    const at = placeOf(tenantId, contentId)
    const upload = yield* Effect.acquireRelease(begin(at), (upload) => {
      const kept = finished.get(at.Key)?.kept === true
      finished.delete(at.Key)
      return kept ? Effect.void : Effect.ignore(abort(upload))
    })
    const parts: Array<Part> = []
    let part = new Uint8Array(0)
    let length = 0

    const send = answered("write", async (options) => {
      const PartNumber = parts.length + 1
      const { ETag } = await client.uploadPart({ ...upload, PartNumber, Body: part.subarray(0, length) }, options)
      parts.push({ PartNumber, ETag })
      length = 0
    })

    const write = Effect.fnUntraced(function*(chunk: Uint8Array) {
      for (let from = 0; from < chunk.length;) {
        const taken = chunk.subarray(from, from + partBytes - length)
        part = roomFor(part, length, length + taken.length)
        part.set(taken, length)
        length += taken.length
        from += taken.length
        if (length === partBytes) yield* send
      }
    })

    const finish = Effect.gen(function*() {
      if (length > 0 || parts.length === 0) yield* send
      part = new Uint8Array(0)
      finished.set(at.Key, { upload, parts, kept: false })
    })

    return { contentId, write, finish } satisfies ContentWriter
  })

  const keep = Effect.fnUntraced(function*(tenantId: string, contentId: string) {
    const { Key } = placeOf(tenantId, contentId)
    const written = finished.get(Key)
    if (written === undefined) return yield* contentNotThere(contentId)
    if (written.kept) return
    yield* answered("keep", (options) => client.completeMultipartUpload({ ...written.upload, MultipartUpload: { Parts: written.parts } }, options))
    written.kept = true
  })

  const remove = (at: At, options: CallOptions): Promise<unknown> => {
    // a rolled back transaction removes what it kept, and its writer may try again
    finished.delete(at.Key)
    return client.deleteObject(at, options)
  }

  const read = async (at: At, chunk: number, options: CallOptions): Promise<Uint8Array | undefined> => {
    const from = chunk * chunkBytes
    const found = await unlessAbsent(client.getObject({ ...at, Range: `bytes=${from}-${from + chunkBytes - 1}` }, options))
    const bytes = await found?.Body?.transformToByteArray()
    return bytes === undefined || bytes.length === 0 ? undefined : bytes
  }

  const sweep = Effect.fnUntraced(function*(tenantId: string, writtenBefore: number) {
    let swept = 0
    let after: PageStart | undefined = {}
    while (after !== undefined) {
      const from: PageStart = after
      const page = yield* answered("sweep", (options) => client.listMultipartUploads({ Bucket: bucket, Prefix: folderOf(tenantId), ...from }, options))
      for (const { Initiated, Key, UploadId } of page.Uploads ?? []) {
        if (Key === undefined || UploadId === undefined || Initiated === undefined || Initiated.getTime() >= writtenBefore) continue
        yield* answered("sweep", (options) => unlessAbsent(client.abortMultipartUpload({ Bucket: bucket, Key, UploadId }, options)))
        swept += 1
      }
      after = page.IsTruncated === true && page.NextKeyMarker !== undefined
        ? { KeyMarker: page.NextKeyMarker, ...(page.NextUploadIdMarker === undefined ? {} : { UploadIdMarker: page.NextUploadIdMarker }) }
        : undefined
    }
    return swept
  })

  return DocumentContents.of({
    open,
    keep: (tenantId, contentIds) => Effect.forEach(contentIds, (contentId) => keep(tenantId, contentId), { concurrency: 8, discard: true }),
    read: (tenantId, contentId, chunk) => isContentId(contentId) ? answered("read", (options) => read(placeOf(tenantId, contentId), chunk, options)) : Effect.undefined,
    remove: (tenantId, contentIds) =>
      Effect.forEach(
        contentIds.filter(isContentId),
        (contentId) => answered("remove", (options) => remove(placeOf(tenantId, contentId), options)),
        { concurrency: 8, discard: true }
      ),
    sweep
  })
}

/** A call that ends in time: a store that is gone without a word must keep neither callers waiting nor the connection of their transaction. */
const answered = <A>(operation: string, call: (options: CallOptions) => Promise<A>): Effect.Effect<A, StorageError> =>
  Effect.timeoutOrElse(attempt(operation, (abortSignal) => call({ abortSignal })), {
    duration: answerMillis,
    orElse: () => Effect.fail(new StorageError({ operation: `DocumentContents.${operation}`, cause: new Error(`No answer within ${answerMillis / 1000} seconds.`) }))
  })

/** Grows on demand, so that a small file needs little memory. */
const roomFor = (part: Uint8Array<ArrayBuffer>, used: number, needed: number): Uint8Array<ArrayBuffer> => {
  if (needed <= part.length) return part
  const larger = new Uint8Array(Math.min(partBytes, Math.max(needed, part.length * 2)))
  larger.set(part.subarray(0, used))
  return larger
}

const absent = new Set(["NoSuchKey", "NoSuchUpload", "NotFound", "InvalidRange"])

const unlessAbsent = async <A>(call: Promise<A>): Promise<A | undefined> =>
  call.catch((error: unknown) => {
    if (absent.has((error as Error).name)) return undefined
    throw error
  })
