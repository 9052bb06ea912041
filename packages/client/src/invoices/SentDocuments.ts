/** The JSON body of an upload, produced while it is sent: base64 is a third larger than the file and never in memory as a whole. */
import type { Bytes } from "../shared/Bytes.ts"
import { base64Encoder } from "./Base64.ts"
import type { DocumentUpload, FileSource } from "./SupportingDocuments.ts"

/** Bytes of a file per chunk: 64 KiB of base64. */
const pieceLength = 48 * 1024

const encoder = new TextEncoder()

/** Checks the files before anything is sent, for callers without types. */
export const checkFiles = ({ documents }: DocumentUpload): void => {
  documents.forEach(({ files }, place) => {
    files.forEach((file, at) => {
      if (typeof file === "string" || isBytes(file) || isBlob(file)) return
      throw new TypeError(`documents[${place}].files[${at}] is neither a Uint8Array, nor a Blob, nor text in base64.`)
    })
  })
}

export async function* sentDocuments({ documents, ...described }: DocumentUpload): AsyncGenerator<Bytes, void, undefined> {
  yield encoder.encode(upTo("documents", described))
  for (const [place, { files, ...document }] of documents.entries()) {
    yield encoder.encode((place > 0 ? "," : "") + upTo("files", document))
    for (const [at, file] of files.entries()) {
      yield encoder.encode(at > 0 ? ",\"" : "\"")
      yield* base64Of(file)
      yield encoder.encode("\"")
    }
    yield encoder.encode("]}")
  }
  yield encoder.encode("]}")
}

/** The JSON of an object up to the start of the list that is its last member. */
const upTo = (list: string, members: object): string => {
  const json = JSON.stringify(members).slice(0, -1)
  return `${json}${json === "{" ? "" : ","}${JSON.stringify(list)}:[`
}

async function* base64Of(file: FileSource): AsyncGenerator<Bytes, void, undefined> {
  if (typeof file === "string") {
    for (let from = 0; from < file.length; from += pieceLength) {
      // The text may be invalid base64, which the server checks. `JSON.stringify` keeps the JSON valid.
      yield encoder.encode(JSON.stringify(file.slice(from, from + pieceLength)).slice(1, -1))
    }
    return
  }
  const { end, push } = base64Encoder()
  const length = isBlob(file) ? file.size : file.length
  for (let from = 0; from < length; from += pieceLength) {
    const piece = isBlob(file) ? new Uint8Array(await file.slice(from, from + pieceLength).arrayBuffer()) : file.subarray(from, from + pieceLength)
    yield push(piece)
  }
  yield end()
}

// Unlike `instanceof`, both checks accept values of another realm.
const isBytes = (file: unknown): file is Uint8Array => Object.prototype.toString.call(file) === "[object Uint8Array]"

const isBlob = (file: FileSource): file is Blob =>
  typeof file === "object" && file !== null && "arrayBuffer" in file && "size" in file
