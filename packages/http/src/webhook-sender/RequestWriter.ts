/** Writes requests to sockets, small ones without garbage. */
import type { Socket } from "node:net"
import type { RequestBody } from "@waybill/core/delivery"

export interface WritableRequest {
  /** Request line and headers with the empty line, in latin1. */
  readonly head: string
  readonly body: RequestBody
  readonly bodyBytes: number
}

export const byteLengthOf = (body: RequestBody): number => {
  let bytes = 0
  for (const piece of body) bytes += typeof piece === "string" ? Buffer.byteLength(piece) : piece.length
  return bytes
}

/** Requests up to this size are copied into one piece: the system call for several pieces costs more than the copy. */
const maxCopied = 16_384

const bufferBytes = 4 * maxCopied

/** Write buffer of small requests. It is free again when the system has accepted a request at once. */
let free = Buffer.allocUnsafeSlow(bufferBytes)

/** Everything leaves in one system call, if the system takes it. */
export const writeRequest = (socket: Socket, { body, bodyBytes, head }: WritableRequest): void => {
  const bytes = head.length + bodyBytes
  if (bytes > maxCopied) return writePieces(socket, head, body)
  let at = free.write(head, 0, "latin1")
  for (const piece of body) {
    if (typeof piece === "string") at += free.write(piece, at)
    else {
      free.set(piece, at)
      at += piece.length
    }
  }
  socket.write(free.subarray(0, bytes))
  // It is still being read from: encryption and full sockets take it later.
  if (socket.writableLength > 0) free = free.length < bytes + maxCopied ? Buffer.allocUnsafeSlow(bufferBytes) : free.subarray(bytes)
}

const writePieces = (socket: Socket, head: string, body: RequestBody): void => {
  socket.cork()
  socket.write(head, "latin1")
  for (const piece of body) socket.write(piece)
  socket.uncork()
}
