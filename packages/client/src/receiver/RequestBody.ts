/** Reads the body of a request as bytes, up to the receiver's limit. */
import { joined } from "../shared/Bytes.ts"
import { DeliveryRefused, RawBodyNeeded } from "./DeliveryRefused.ts"

export const readRequestBody = async (request: Request, mostBytes: number): Promise<Uint8Array> => {
  if (request.bodyUsed || request.body?.locked === true) {
    throw new RawBodyNeeded(
      "The request's body was already read, so its signature cannot be checked. Call the receiver before any middleware "
        + "that parses bodies, give it request.clone() made before that, or hand over the raw bytes with answer({ headers, body })."
    )
  }
  if (Number(request.headers.get("content-length")) > mostBytes) throw tooLarge(mostBytes)
  try {
    const body = request.body ? await readStream(request.body, mostBytes) : new Uint8Array(await request.arrayBuffer())
    if (body.length > mostBytes) throw tooLarge(mostBytes)
    return body
  } catch (cause) {
    if (cause instanceof DeliveryRefused) throw cause
    throw new DeliveryRefused("body_incomplete", "The connection ended before the body did.", { cause })
  }
}

const readStream = async (stream: ReadableStream<Uint8Array>, mostBytes: number): Promise<Uint8Array> => {
  const reader = stream.getReader()
  const chunks: Array<Uint8Array> = []
  let length = 0
  while (true) {
    const { done, value } = await reader.read()
    if (done) return joined(chunks)
    chunks.push(value)
    length += value.byteLength
    if (length > mostBytes) {
      // Not awaited: the other side may take long to notice.
      reader.cancel().catch(() => {})
      throw tooLarge(mostBytes)
    }
  }
}

export const tooLarge = (mostBytes: number): DeliveryRefused =>
  new DeliveryRefused("body_too_large", `The body is larger than the ${mostBytes} bytes this receiver takes. Lower the subscription's batchMaxSize or raise mostBytes.`)
