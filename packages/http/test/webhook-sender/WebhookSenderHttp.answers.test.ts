import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { Socket } from "node:net"
import { brotliCompressSync, constants, gzipSync } from "node:zlib"
import { closed, makeReceiver } from "./Receiver.ts"
import { loopbackSender, send, summary } from "./Sending.ts"

const answering = (...answer: ReadonlyArray<string | Uint8Array>) =>
  makeReceiver(({ socket }) => {
    for (const part of answer) socket.write(part)
  })

/** Writes as fast as the other side reads. */
const pour = (socket: Socket, part: Uint8Array | string) => {
  const more = () => {
    while (!socket.destroyed && socket.write(part));
  }
  socket.on("drain", more)
  more()
}

describe("WebhookSenderHttp and the receiver's response", () => {
  it.live("sends the exact bytes, the given headers and its own", Effect.fnUntraced(function*() {
    const receiver = yield* makeReceiver()
    const body = Uint8Array.from({ length: 256 }, (_, index) => index)
    const outcome = yield* send(`${receiver.url}?a=b%20c`, { body: [body], headers: { "content-type": "application/json", "webhook-id": "dlv_1" } })
    assert.deepStrictEqual(outcome, { _tag: "Accepted", status: 200, excerpt: "ok" })
    const [request] = receiver.requests
    assert.deepStrictEqual(new Uint8Array(request!.body), body)
    const [line, ...headers] = request!.head.split("\r\n")
    assert.strictEqual(line, "POST /hook?a=b%20c HTTP/1.1")
    assert.deepStrictEqual(headers.map((header) => header.replace(/Waybill\/\S+/, "Waybill/*")).sort(), [
      "accept-encoding: identity",
      "connection: keep-alive",
      "content-length: 256",
      "content-type: application/json",
      `host: 127.0.0.1:${receiver.port}`,
      "user-agent: Waybill/* (+https://github.com/waybill/waybill)",
      "webhook-id: dlv_1"
    ])
  }, Effect.provide(loopbackSender())))

  it.live("sends the pieces of a body one after the other, texts in UTF-8", Effect.fnUntraced(function*() {
    const receiver = yield* makeReceiver()
    const part = new TextEncoder().encode("xxhelloxx").subarray(2, 7)
    const bodies = [[], [""], [new Uint8Array(0)], [part], ["é", part, "", "\u2028", part, part, "\ud800"]]
    for (const body of bodies) assert.strictEqual(summary(yield* send(receiver.url, { body })), "Accepted 200")
    assert.include(receiver.requests[0]!.head, "content-length: 0")
    assert.deepStrictEqual(receiver.requests.map((request) => request.body.toString()), ["", "", "", "hello", "éhello\u2028hellohello\ufffd"])
  }, Effect.provide(loopbackSender())))

  it.live("sends bodies of every size whole, alone and many at once", Effect.fnUntraced(function*() {
    const receiver = yield* makeReceiver()
    const bodies = [1, 1024, 15_000, 16_000, 16_383, 16_384, 16_385, 70_000, 8 * 1024 * 1024].map((size, n) => new Uint8Array(size).map((_, index) => index * 7 + n))
    const sendOne = (body: Uint8Array, n: number) => send(receiver.url, { body: ["[", body, "]"], headers: { "webhook-id": String(n) } })
    const wanted = (body: Uint8Array) => Buffer.concat([Buffer.from("["), body, Buffer.from("]")])
    const several = bodies.slice(0, -1).flatMap((body) => [body, body, body, body])
    for (const body of bodies) assert.strictEqual(summary(yield* sendOne(body, -1)), "Accepted 200")
    for (const [n, body] of bodies.entries()) assert.isTrue(wanted(body).equals(receiver.requests[n]!.body), `${body.length} bytes`)
    yield* Effect.forEach(several, sendOne, { concurrency: "unbounded" })
    for (const { body, head } of receiver.requests.slice(bodies.length)) {
      const n = Number(/webhook-id: (\d+)/.exec(head)![1])
      assert.isTrue(wanted(several[n]!).equals(body), `${several[n]!.length} bytes, one of many`)
    }
  }, Effect.provide(loopbackSender())))

  it.live("uses the configured user agent", Effect.fnUntraced(function*() {
    const receiver = yield* makeReceiver()
    yield* send(receiver.url)
    assert.include(receiver.requests[0]!.head, "user-agent: Acme/1")
  }, Effect.provide(loopbackSender({ userAgent: "Acme/1" }))))

  it.live("ignores headers that HTTP itself sets", Effect.fnUntraced(function*() {
    const receiver = yield* makeReceiver()
    const headers = { Host: "evil.example", "content-length": "1", "Transfer-Encoding": "chunked", connection: "close", expect: "100-continue", upgrade: "h2c", te: "trailers", "user-agent": "x", "accept-encoding": "gzip", "x-own": "1" }
    assert.strictEqual(summary(yield* send(receiver.url, { headers })), "Accepted 200")
    const { head } = receiver.requests[0]!
    assert.notMatch(head, /evil|chunked|: close|expect|upgrade|^te:|gzip/im)
    assert.include(head, "x-own: 1")
  }, Effect.provide(loopbackSender())))

  it.live("fails without sending when a header is invalid", Effect.fnUntraced(function*() {
    const receiver = yield* makeReceiver()
    for (const headers of [{ "x-bad": "a\r\nx-smuggled: 1" }, { "x-bad": "a\u0000" }, { "bad name": "1" }, { "x-bad": "\u{1f44b}" }]) {
      assert.strictEqual(summary(yield* send(receiver.url, { headers })), "protocol")
    }
    assert.strictEqual(summary(yield* send(receiver.url)), "Accepted 200")
    assert.lengthOf(receiver.requests, 1)
  }, Effect.provide(loopbackSender())))

  it.live("accepts a 200 with an HTML login page and keeps its beginning", Effect.fnUntraced(function*() {
    const page = `<!doctype html>\n<title>Sign in</title>${"<p>please</p>".repeat(200)}`
    const receiver = yield* answering(`HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: ${page.length}\r\n\r\n${page}`)
    assert.deepStrictEqual(yield* send(receiver.url), { _tag: "Accepted", status: 200, excerpt: page.replace("\n", " ").slice(0, 1024) })
  }, Effect.provide(loopbackSender())))

  it.live("accepts a response after a few interim ones", Effect.fnUntraced(function*() {
    const receiver = yield* answering("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n")
    assert.strictEqual(summary(yield* send(receiver.url)), "Accepted 202")
  }, Effect.provide(loopbackSender())))

  it.live("stops reading an endless body and uses the status", Effect.fnUntraced(function*() {
    for (const head of ["HTTP/1.1 200 OK\r\n\r\n", "HTTP/1.1 500 Oops\r\ncontent-length: 99999999999\r\n\r\n"]) {
      const receiver = yield* makeReceiver(({ socket }) => {
        socket.write(head)
        pour(socket, Buffer.alloc(65_536, "x"))
      })
      const outcome = yield* send(receiver.url)
      assert.strictEqual(summary(outcome), head.includes("200") ? "Accepted 200" : "http_5xx 500")
      assert.strictEqual(outcome._tag === "Interrupted" ? "" : outcome.excerpt, "x".repeat(1024))
      yield* closed(receiver.sockets[0]!)
      assert.isAtMost(receiver.sockets[0]!.bytesWritten, 32 * 1024 * 1024)
    }
  }, Effect.provide(loopbackSender())))

  it.live("decompresses nothing", Effect.fnUntraced(function*() {
    const zeros = Buffer.alloc(64 * 1024 * 1024)
    const bombs: Record<string, Buffer> = { gzip: gzipSync(zeros), "gzip, gzip": gzipSync(gzipSync(zeros)), br: brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }) }
    for (const [encoding, bomb] of Object.entries(bombs)) {
      const receiver = yield* answering(`HTTP/1.1 200 OK\r\ncontent-encoding: ${encoding}\r\ncontent-length: ${bomb.length}\r\n\r\n`, bomb)
      const before = process.memoryUsage().arrayBuffers
      const outcome = yield* send(receiver.url)
      assert.strictEqual(summary(outcome), "Accepted 200")
      assert.isBelow(process.memoryUsage().arrayBuffers - before, 8 * 1024 * 1024)
      assert.isAtMost(outcome._tag === "Accepted" ? outcome.excerpt.length : NaN, Math.min(bomb.length, 1024))
    }
  }, Effect.provide(loopbackSender())), 30_000)

  it.live("replaces NUL, invalid UTF-8 and terminal sequences of a body", Effect.fnUntraced(function*() {
    const receiver = yield* answering("HTTP/1.1 400 Bad\r\ncontent-length: 14\r\n\r\n", Buffer.from("no\u0000\u001b[31m"), Uint8Array.of(0xff, 0xfe), "fin\r\n")
    const outcome = yield* send(receiver.url)
    assert.deepStrictEqual(outcome, { _tag: "Failed", failure: "http_4xx", status: 400, detail: "The receiver answered 400.", excerpt: "no����fin " })
  }, Effect.provide(loopbackSender())))

  it.live("accepts a chunked response with trailers", Effect.fnUntraced(function*() {
    const receiver = yield* answering("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n7;x=y\r\n, world\r\n0\r\nx-trailer: 1\r\n\r\n")
    assert.deepStrictEqual(yield* send(receiver.url), { _tag: "Accepted", status: 200, excerpt: "hello, world" })
    assert.deepStrictEqual(yield* send(receiver.url), { _tag: "Accepted", status: 200, excerpt: "hello, world" })
    assert.lengthOf(receiver.sockets, 1)
  }, Effect.provide(loopbackSender())))

  it.live("accepts a 204 with a body, and does not reuse that connection", Effect.fnUntraced(function*() {
    const receiver = yield* answering("HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\nhello")
    assert.deepStrictEqual(yield* send(receiver.url), { _tag: "Accepted", status: 204, excerpt: "" })
    assert.deepStrictEqual(yield* send(receiver.url), { _tag: "Accepted", status: 204, excerpt: "" })
    assert.lengthOf(receiver.sockets, 2)
  }, Effect.provide(loopbackSender())))
})
