/** Streams an upload into core, file by file, and keeps no file in memory. */
import { fault, InvalidInput, isObject, maxDepth, pointer, type QuotaExceeded, type StorageError } from "@waybill/core"
import {
  DocumentRequest,
  type DocumentUpload,
  type FileFormatUnknown,
  FileTooLarge,
  type FileWriter,
  maxDocumentsPerUpload,
  maxFileBytes,
  maxFilesPerDocument,
  noBase64
} from "@waybill/core/invoices"
import { Effect, Stream } from "effect"
import type { IncomingBody } from "../shared/Contract.ts"
import { bodyNotJson, bodyNotObject, bodyTooDeep, bodyTooLarge, type Refused } from "../shared/Refused.ts"
import { parseBody, withoutPosition } from "../shared/ParseBody.ts"
import { type FilePath, maxRecordBytes, type UploadPart, UploadReader } from "./UploadReader.ts"

const recordSpec = { schema: DocumentRequest }

type Failure = InvalidInput | FileTooLarge | FileFormatUnknown | QuotaExceeded | Refused | StorageError

/** Returns the record with each file's id in its place. `call` is the method and path, for errors. */
export const receiveUpload = Effect.fnUntraced(function*(upload: DocumentUpload, body: IncomingBody, call: string): Effect.fn.Return<unknown, Failure> {
  const reader = new UploadReader()
  const fileIds: Array<string> = []
  let writer: FileWriter | undefined

  const take = Effect.fnUntraced(function*(part: UploadPart): Effect.fn.Return<void, Failure> {
    switch (part._tag) {
      case "FileBegins":
        writer = yield* upload.file(pointer(part.path))
        fileIds.push(writer.fileId)
        return
      case "FileBytes":
        return yield* writer!.write(part.bytes)
      case "FileEnds":
        return yield* writer!.end
      case "Refused":
        return yield* refusalOf(part)
    }
  })

  yield* Stream.runForEach(body, (chunk) => Effect.forEach(reader.push(chunk), take, { discard: true }))
  // Positions in the remaining JSON would not match the request body.
  const record = yield* Effect.mapError(parseBody(reader.rest, recordSpec, maxRecordBytes), withoutPosition)
  return isObject(record) ? withFileIds(record, fileIds) : yield* bodyNotObject(call, undefined)
})

const refusalOf = ({ path, why }: Extract<UploadPart, { readonly _tag: "Refused" }>): InvalidInput | FileTooLarge | Refused => {
  switch (why) {
    case "notJson":
      return bodyNotJson(undefined)
    case "notBase64":
      return path === undefined ? InvalidInput.of(fault([], "A file is base64 of its bytes.")) : noBase64(path)
    case "tooDeep":
      return bodyTooDeep(maxDepth)
    case "tooMany":
      return tooManyFiles(path)
    case "tooLarge":
      return path === undefined ? bodyTooLarge(maxRecordBytes) : new FileTooLarge({ pointer: pointer(path), maxBytes: maxFileBytes })
  }
}

const tooManyFiles = (path: FilePath | undefined): InvalidInput => {
  const [documents, document = 0, files] = path ?? ["documents"]
  return document >= maxDocumentsPerUpload
    ? InvalidInput.of(fault([documents], `At most ${maxDocumentsPerUpload} documents in one upload.`, "out_of_bounds"))
    : InvalidInput.of(fault([documents, document, ...(files === undefined ? [] : [files])], `At most ${maxFilesPerDocument} files in one document.`, "out_of_bounds"))
}

/** Replaces each file number by the id of the stored file. */
const withFileIds = (record: Readonly<Record<string, unknown>>, fileIds: ReadonlyArray<string>): unknown => {
  if (!Array.isArray(record["documents"])) return record
  const documents = record["documents"].map((document: unknown) =>
    isObject(document) && Array.isArray(document["files"])
      ? { ...document, files: document["files"].map((file: unknown) => typeof file === "string" ? fileIds[Number(file)] : file) }
      : document
  )
  return { ...record, documents }
}
