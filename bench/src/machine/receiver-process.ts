/**
 * The receiver of every webhook: reads requests off the socket, answers 200 and counts.
 *
 * It only searches for the end of a request, because its CPU time is taken from the senders. Requests
 * arrive one at a time on a connection, with a content-length, as undici sends them.
 */
import { type AddressInfo, createServer, type Socket } from "node:net"
import { serve } from "./Child.ts"

const answer = Buffer.from("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
const headEnd = Buffer.from("\r\n\r\n")
const lengthName = Buffer.from("content-length: ")
/** Requests to this path are answered late. */
const slowPath = Buffer.from("/slow ")
/** Requests to this path are searched for marks. */
const watchedPath = Buffer.from("/hook ")
const markName = Buffer.from("mark-")

let requests = 0
let bytes = 0
/** Milliseconds since 1970. */
let first = 0
let last = 0
let slowMillis = 0
/** When each mark arrived, in milliseconds since 1970; only while marks are watched. */
let marks: Float64Array | undefined

const now = () => performance.timeOrigin + performance.now()

const reply = (socket: Socket) => {
  if (!socket.destroyed) socket.write(answer)
}

const noteMarks = (seen: Float64Array, body: Buffer) => {
  const at = now()
  for (let found = body.indexOf(markName); found !== -1; found = body.indexOf(markName, found + 1)) {
    const number = Number.parseInt(body.toString("latin1", found + 5, found + 13), 10)
    if (seen[number] === 0) seen[number] = at
  }
}

const server = createServer({ noDelay: true }, (socket) => {
  /** Bytes of the current request that have not arrived yet. */
  let missing = 0
  let head: Buffer | undefined
  let parts: Array<Buffer> = []
  let slow = false
  let watched = false
  const complete = () => {
    requests += 1
    last = now()
    if (first === 0) first = last
    if (watched) {
      noteMarks(marks!, parts.length === 1 ? parts[0]! : Buffer.concat(parts))
      parts = []
    }
    if (slow) setTimeout(reply, slowMillis, socket)
    else socket.write(answer)
  }
  socket.on("data", (chunk: Buffer) => {
    bytes += chunk.length
    if (missing > 0) {
      if (watched) parts.push(chunk)
      missing -= chunk.length
      if (missing <= 0) complete()
      return
    }
    const seen = head === undefined ? chunk : Buffer.concat([head, chunk])
    const end = seen.indexOf(headEnd)
    if (end === -1) {
      head = seen
      return
    }
    head = undefined
    const at = seen.indexOf(lengthName)
    const length = at === -1 || at > end ? 0 : Number.parseInt(seen.toString("latin1", at + 16, at + 26), 10)
    const path = seen.subarray(0, 32)
    slow = slowMillis > 0 && path.indexOf(slowPath) !== -1
    watched = marks !== undefined && path.indexOf(watchedPath) !== -1
    if (watched) parts.push(seen)
    missing = end + 4 + length - seen.length
    if (missing <= 0) complete()
  })
  socket.on("error", () => socket.destroy())
})

await new Promise<void>((done) => server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, done))

const handlers = {
  port: () => (server.address() as AddressInfo).port,
  /** Resets the counters. With `watched`, the times of that many marks are recorded. */
  reset: (options: { readonly watched?: number; readonly slowMillis?: number }) => {
    requests = 0
    bytes = 0
    first = 0
    last = 0
    slowMillis = options.slowMillis ?? 0
    marks = options.watched === undefined ? undefined : new Float64Array(options.watched)
  },
  counted: () => ({ requests, bytes, first, last }),
  /** Microseconds of processor time so far. */
  cpu: () => process.cpuUsage(),
  marks: () => [...(marks ?? [])]
}

export type ReceiverHandlers = typeof handlers

serve(handlers)
