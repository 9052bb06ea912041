/** Upload bodies that are produced while they are sent. */
import { documentsSample } from "@waybill/testkit"

export const mebibyte = 1024 * 1024

const chunkBytes = 48 * 1024

/** A PDF of this size, the same each time, in chunks; all except the last have a multiple of three bytes. */
export const pdfChunks = function*(size: number): Iterable<Uint8Array> {
  for (let from = 0; from < size; from += chunkBytes) {
    const chunk = new Uint8Array(Math.min(chunkBytes, size - from))
    for (let at = 0; at < chunk.length; at++) chunk[at] = (from + at) * 31
    if (from === 0) chunk.set(Buffer.from("%PDF-").subarray(0, size))
    yield chunk
  }
}

interface CountedBody {
  readonly stream: ReadableStream<Uint8Array>
  /** Bytes that were read so far. */
  readonly pulled: () => number
}

/** The JSON of an upload with PDFs of these sizes. */
export const uploadBody = (sizes: ReadonlyArray<number>, overrides: Parameters<typeof documentsSample>[0] = {}): CountedBody => {
  const [before, after] = JSON.stringify(documentsSample({ ...overrides, documents: [{ documentType: "POD", files: ["HERE"] }] })).split("\"HERE\"")
  const text = function*(): Iterable<string> {
    yield before!
    for (const [at, size] of sizes.entries()) {
      yield at === 0 ? "\"" : ",\""
      for (const chunk of pdfChunks(size)) yield Buffer.from(chunk).toString("base64")
      yield "\""
    }
    yield after!
  }
  return counted(text())
}

export const counted = (text: Iterable<string>): CountedBody => {
  const chunks = text[Symbol.iterator]()
  const encoder = new TextEncoder()
  let pulled = 0
  return {
    stream: new ReadableStream({
      pull: (controller) => {
        const next = chunks.next()
        if (next.done === true) return controller.close()
        const bytes = encoder.encode(next.value)
        pulled += bytes.length
        controller.enqueue(bytes)
      }
    }, { highWaterMark: 0 }),
    pulled: () => pulled
  }
}
