/** Uploads files that are in memory, as an embedding host passes them. */
import { Effect } from "effect"
import { fault, pointer } from "../shared/Fault.ts"
import { InvalidInput } from "../shared/InvalidInput.ts"
import { isObject } from "../shared/Json.ts"
import type { DocumentUpload, FileWriter } from "./DocumentUpload.ts"
import { base64Decoder } from "./model/Base64Chunks.ts"

/** Base64 characters decoded at a time. */
const chunkLength = 64 * 1024

const encoder = new TextEncoder()

/** Writes every file of the record, then finishes the upload. Values that are not files stay for the record's own validation. */
export const uploadWhole = Effect.fnUntraced(function*(upload: DocumentUpload, input: unknown) {
  if (!isObject(input) || !Array.isArray(input["documents"])) return yield* upload.finish(input)
  const documents: Array<unknown> = []
  for (const [place, document] of input["documents"].entries()) {
    if (!isObject(document) || !Array.isArray(document["files"])) {
      documents.push(document)
      continue
    }
    const files: Array<unknown> = []
    for (const [at, file] of document["files"].entries()) {
      const isFile = typeof file === "string" || file instanceof Uint8Array
      files.push(isFile ? yield* writeFile(upload, file, ["documents", place, "files", at]) : file)
    }
    documents.push({ ...document, files })
  }
  return yield* upload.finish({ ...input, documents })
})

const writeFile = Effect.fnUntraced(function*(upload: DocumentUpload, file: string | Uint8Array, path: ReadonlyArray<PropertyKey>) {
  const writer = yield* upload.file(pointer(path))
  if (typeof file === "string") yield* writeBase64(writer, file, path)
  else yield* writer.write(file)
  yield* writer.end
  return writer.fileId
})

const writeBase64 = Effect.fnUntraced(function*(writer: FileWriter, text: string, path: ReadonlyArray<PropertyKey>) {
  const decoder = base64Decoder()
  for (let from = 0; from < text.length; from += chunkLength) {
    const bytes = decoder.push(encoder.encode(text.slice(from, from + chunkLength)))
    if (bytes === undefined) return yield* noBase64(path)
    yield* writer.write(bytes)
  }
  const last = decoder.end()
  if (last === undefined) return yield* noBase64(path)
  yield* writer.write(last)
})

/** One error text for every place that decodes a file. */
export const noBase64 = (path: ReadonlyArray<PropertyKey>): InvalidInput =>
  InvalidInput.of(fault(path, "A file is base64 (RFC 4648, standard alphabet) of its bytes, whole and without a data: prefix."))
