/** Responses with documents: JSON whose files are read and encoded while it is sent. */
import type { StorageError } from "@waybill/core"
import { base64Encoder, type StoredDocuments, type StoredFile } from "@waybill/core/invoices"
import { Stream } from "effect"
import { HttpServerResponse } from "effect/http"

type Headers = Readonly<Record<string, string>>

type Segment = string | StoredFile

const encoder = new TextEncoder()

/** One record, or several as an array. The length is known, so a receiver notices a truncated body. */
export const documentsBody = (stored: StoredDocuments | ReadonlyArray<StoredDocuments>, headers: Headers = {}) => {
  let contentLength = 0
  for (const segment of segmentsOf(stored)) contentLength += typeof segment === "string" ? Buffer.byteLength(segment) : encodedLength(segment.size)
  return HttpServerResponse.stream(Stream.suspend(() => streamOf(segmentsOf(stored))), { headers, contentLength, contentType: "application/json" })
}

/** Segments are produced on demand, because a page may have thousands of files. */
const streamOf = (segments: Iterable<Segment>): Stream.Stream<Uint8Array, StorageError> =>
  Stream.flatMap(Stream.fromIterable(segments, { chunkSize: 1 }), (segment) =>
    typeof segment === "string" ? Stream.succeed(encoder.encode(segment)) : encoded(segment))

const segmentsOf = function*(stored: StoredDocuments | ReadonlyArray<StoredDocuments>): Iterable<Segment> {
  if (!isList(stored)) return yield* recordOf(stored)
  yield "["
  for (const [at, each] of stored.entries()) {
    if (at > 0) yield ","
    yield* recordOf(each)
  }
  yield "]"
}

const isList = (stored: StoredDocuments | ReadonlyArray<StoredDocuments>): stored is ReadonlyArray<StoredDocuments> => Array.isArray(stored)

const recordOf = function*({ documents, record }: StoredDocuments): Iterable<Segment> {
  const members = JSON.stringify(record).slice(0, -1)
  yield `${members}${members === "{" ? "" : ","}"documents":[`
  for (const [at, { documentType, files }] of documents.entries()) {
    yield `${at > 0 ? "," : ""}{"documentType":${JSON.stringify(documentType)},"files":[`
    for (const [place, file] of files.entries()) {
      yield `${place > 0 ? "," : ""}{"id":${JSON.stringify(file.id)},"content":"`
      yield file
      yield "\"}"
    }
    yield "]}"
  }
  yield "]}"
}

const encodedLength = (size: number): number => Math.ceil(size / 3) * 4

const encoded = ({ content }: StoredFile): Stream.Stream<Uint8Array, StorageError> =>
  Stream.suspend(() => {
    const base64 = base64Encoder()
    return Stream.concat(Stream.map(content, base64.push), Stream.suspend(() => Stream.succeed(base64.end())))
  })
