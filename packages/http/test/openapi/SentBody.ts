/** Reads the JSON of a request beside the service that it is sent to, without holding streams back. */

/** Larger bodies are not held against the document. */
export const maxSentBytes = 1024 * 1024

export interface SentBody {
  /** The same request; the body passes through. */
  readonly request: Request
  /** The JSON of the body, when it was read to its end; else `undefined`. */
  readonly json: () => unknown
}

/** Texts that are no JSON are `undefined`. */
export const jsonIn = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A stream that passes bytes on, and their text once all of them passed. */
const recorder = () => {
  const chunks: Array<Uint8Array> = []
  let bytes = 0
  let text: string | undefined
  const stream = new TransformStream<Uint8Array, Uint8Array>({
    transform: (chunk, controller) => {
      bytes += chunk.byteLength
      if (bytes <= maxSentBytes) chunks.push(chunk.slice())
      else chunks.length = 0
      controller.enqueue(chunk)
    },
    flush: () => {
      if (bytes <= maxSentBytes) text = Buffer.concat(chunks).toString("utf8")
    }
  })
  return { stream, text: () => text }
}

export const recordedStream = (body: ReadableStream<Uint8Array>): { readonly body: ReadableStream<Uint8Array>; readonly json: () => unknown } => {
  const { stream, text } = recorder()
  return { body: body.pipeThrough(stream), json: () => jsonIn(text() ?? "") }
}

export const recorded = (request: Request): SentBody => {
  if (request.body === null || request.bodyUsed || request.body.locked) return { request, json: () => undefined }
  const { body, json } = recordedStream(request.body)
  const same = new Request(request, { body, duplex: "half" } as RequestInit)
  // a test may replace the URL, because that of a request is normalised
  Object.defineProperty(same, "url", { value: request.url })
  return { request: same, json }
}
