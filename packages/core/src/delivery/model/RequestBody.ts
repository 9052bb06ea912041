/** Request bodies in pieces, so that stored bytes are sent without a copy. */

/** The pieces of one body, in order. Texts are UTF-8. */
export type RequestBody = ReadonlyArray<string | Uint8Array>

const encoder = new TextEncoder()

/** All pieces as one array. */
export const bytesOfBody = (body: RequestBody): Uint8Array => {
  const pieces = body.map((piece) => typeof piece === "string" ? encoder.encode(piece) : piece)
  const bytes = new Uint8Array(pieces.reduce((length, piece) => length + piece.length, 0))
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}
