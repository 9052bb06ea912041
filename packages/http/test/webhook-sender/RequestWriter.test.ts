import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { connect, type Socket } from "node:net"
import { byteLengthOf, writeRequest } from "../../src/webhook-sender/RequestWriter.ts"
import { makeReceiver } from "./Receiver.ts"

const connected = (port: number) =>
  Effect.acquireRelease(
    Effect.callback<Socket>((resume) => {
      const socket: Socket = connect(port, "127.0.0.1", () => resume(Effect.succeed(socket)))
    }),
    (socket) => Effect.sync(() => socket.destroy())
  )

const endOf = (socket: Socket) =>
  Effect.callback<Buffer>((resume) => {
    const pieces: Array<Buffer> = []
    socket.on("data", (piece: Buffer) => pieces.push(piece)).on("end", () => resume(Effect.succeed(Buffer.concat(pieces))))
  })

/** Writes a request and returns its bytes. */
const written = (socket: Socket, head: string, filledWith: number): Buffer => {
  const body = ["[", new Uint8Array(15_000).fill(filledWith), "]"]
  writeRequest(socket, { head, body, bodyBytes: byteLengthOf(body) })
  return Buffer.concat([Buffer.from(head), Buffer.from("["), Buffer.alloc(15_000, filledWith), Buffer.from("]")])
}

describe("writeRequest", () => {
  it.live("does not overwrite bytes that the socket has not sent yet", Effect.fnUntraced(function*() {
    const slow = yield* makeReceiver(undefined, { silent: true })
    const other = yield* makeReceiver(undefined, { silent: true })
    const full = yield* connected(slow.port)
    const free = yield* connected(other.port)
    const sent = [written(full, "first", 1)]
    while (full.writableLength === 0 && sent.length < 10_000) sent.push(written(full, `next ${sent.length}`, 2))
    assert.isAbove(full.writableLength, 0, "the receiver's buffers are full")
    for (let n = 0; n < 20; n++) written(free, "other", 3)
    full.end()
    assert.isTrue((yield* Effect.flatMap(slow.connected, endOf)).equals(Buffer.concat(sent)))
  }))
})
