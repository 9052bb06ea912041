/** Responses with documents: JSON whose files are read and encoded while it is sent. */
import type { StorageError } from "@waybill/core"
import { base64Encoder, type StoredDocuments, type StoredFile } from "@waybill/core/invoices"
import { Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { holding } from "../shared/HeldBytes.ts"

type Headers = Readonly<Record<string, string>>

type Segment = string | StoredFile

const encoder = new TextEncoder()

/** A chunk of a file, and its base64. */
const chunkBytes = 512 * 1024

/** One record, or several as an array. The length is known, so a receiver notices a truncated body. */
export const documentsBody = (stored: StoredDocuments | ReadonlyArray<StoredDocuments>, headers: Headers = {}) => {
  let [textLength, filesLength] = [0, 0]
  for (const segment of segmentsOf(stored)) {
    if (typeof segment === "string") textLength += Buffer.byteLength(segment)
    else filesLength += encodedLength(segment.size)
  }
  const response = HttpServerResponse.stream(Stream.suspend(() => streamOf(segmentsOf(stored))), { headers, contentLength: textLength + filesLength, contentType: "application/json" })
  return holding(textLength + Math.min(filesLength, chunkBytes), response)
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
