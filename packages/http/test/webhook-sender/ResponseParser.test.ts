import { assert, describe, it } from "@effect/vitest"
import { type ResponseHead, ResponseParser } from "../../src/webhook-sender/ResponseParser.ts"

/** The reports of the parser in order, and its final state. */
const read = (text: string, parser = new ResponseParser()) => {
  const events: Array<string | ResponseHead> = []
  const bytes = Buffer.from(text, "latin1")
  const used = parser.read(bytes, bytes.length, {
    onInterim: () => events.push("interim"),
    onHead: (head) => events.push(head),
    onBody: (piece, start, end) => events.push(piece.toString("latin1", start, end))
  })
  return { parser, events, left: bytes.length - used }
}

const head = (status: number, fields: Partial<ResponseHead> = {}): ResponseHead => ({ status, retryAfter: undefined, location: undefined, date: undefined, ...fields })

describe("ResponseParser", () => {
  it("reads a head and a counted body, and nothing behind it", () => {
    const { events, left, parser } = read("HTTP/1.1 503 Later\r\nRetry-After:\t 120 \r\nlocation: /a\r\nlocation: /b\r\ncontent-length: 2\r\n\r\noknext")
    assert.deepStrictEqual(events, [head(503, { retryAfter: "120", location: "/a" }), "ok"])
    assert.isTrue(parser.isComplete && parser.isPersistent)
    assert.strictEqual(left, 4)
  })

  it("reads the date of the response, the first one", () => {
    const date = "Tue, 14 Nov 2023 22:13:20 GMT"
    assert.deepStrictEqual(read(`HTTP/1.1 204 No Content\r\nDate: ${date}\r\ndate: another\r\n\r\n`).events, [head(204, { date })])
  })

  it("reads chunks, and ignores extensions and trailers", () => {
    const { events, left, parser } = read("HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, Chunked\r\n\r\n2;x=y\r\nok\r\n0A\r\n0123456789\r\n0\r\nretry-after: 5\r\n\r\n")
    assert.deepStrictEqual(events, [head(200), "ok", "0123456789"])
    assert.isTrue(parser.isComplete && parser.isPersistent)
    assert.strictEqual(left, 0)
  })

  it("reads a body without a length to the end of the connection, and does not keep that", () => {
    for (const field of ["x: y", "transfer-encoding: gzip"]) {
      const { events, parser } = read(`HTTP/1.1 200 OK\r\n${field}\r\n\r\nall of\r\n\r\nit`)
      assert.deepStrictEqual(events, [head(200), "all of\r\n\r\nit"])
      assert.isFalse(parser.isComplete)
      parser.end()
      assert.isTrue(parser.isComplete)
      assert.isFalse(parser.isPersistent)
    }
  })

  it("reads no body of 204 and 304, and keeps the connection only if none was declared", () => {
    for (const status of [204, 304]) {
      for (const [field, kept] of [["x: y", true], ["content-length: 0", true], ["content-length: 5", false], ["transfer-encoding: chunked", false]] as const) {
        const { parser } = read(`HTTP/1.1 ${status} x\r\n${field}\r\n\r\n`)
        assert.isTrue(parser.isComplete)
        assert.strictEqual(parser.isPersistent, kept, `${status} ${field}`)
      }
    }
  })

  it("skips interim responses with their headers", () => {
    const { events, parser } = read("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nconnection: close\r\ncontent-length: 3\r\nlocation: /x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
    assert.deepStrictEqual(events, ["interim", "interim", head(200)])
    assert.isTrue(parser.isPersistent)
  })

  it("keeps a connection of HTTP/1.1 unless it closes, and one of HTTP/1.0 only if it says so", () => {
    const kept = (version: string, connection: string) => read(`HTTP/${version} 200 OK\r\n${connection}content-length: 0\r\n\r\n`).parser.isPersistent
    assert.isTrue(kept("1.1", ""))
    assert.isTrue(kept("1.1", "connection: x, keep-alive\r\n"))
    assert.isFalse(kept("1.1", "connection: Close\r\n"))
    assert.isFalse(kept("1.1", "connection: keep-alive\r\nconnection: upgrade, close\r\n"))
    assert.isFalse(kept("1.0", ""))
    assert.isTrue(kept("1.0", "connection: Keep-Alive\r\n"))
    assert.isFalse(kept("1.0", "connection: keep-alive, close\r\n"))
  })

  it("reads how long the receiver keeps an idle connection", () => {
    assert.strictEqual(read("HTTP/1.1 204 x\r\nkeep-alive: timeout=15, max=3\r\n\r\n").parser.idleSeconds, 15)
    assert.isUndefined(read("HTTP/1.1 204 x\r\nkeep-alive: timeout=-1\r\n\r\n").parser.idleSeconds)
  })

  it("refuses what two parsers could read differently", () => {
    for (
      const rest of [
        "content-length: 5\r\ncontent-length: 5\r\n\r\n", "content-length: 5, 5\r\n\r\n", "content-length: +5\r\n\r\n", "content-length:\r\n\r\n",
        "content-length: 9007199254740992\r\n\r\n", "content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n", "transfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n",
        "x: y\n\r\n", "x : y\r\n\r\n", "x: a\r\n folded\r\n\r\n", "x\r\n\r\n", ": y\r\n\r\n", "x: a\0\r\n\r\n", "x: a\rb\r\n\r\n", "x: \x7f\r\n\r\n",
        "transfer-encoding: chunked\r\n\r\n2\r\nokay\r\n", "transfer-encoding: chunked\r\n\r\n2 \r\nok\r\n", "transfer-encoding: chunked\r\n\r\n\r\n",
        "transfer-encoding: chunked\r\n\r\n2\nok", "transfer-encoding: chunked\r\n\r\n-2\r\nok", "transfer-encoding: chunked\r\n\r\n20000000000000\r\n",
        "transfer-encoding: chunked\r\n\r\n0\r\n folded\r\n\r\n"
      ]
    ) {
      assert.isTrue(read(`HTTP/1.1 200 OK\r\n${rest}`).parser.isInvalid, JSON.stringify(rest))
    }
  })

  it("refuses what is not HTTP/1.0 or 1.1 with a status from 100, and 101", () => {
    for (const line of ["HTTP/2.0 200 OK", "HTTP/1.2 200 OK", "HTTP/1.1 99 x", "HTTP/1.1 099 x", "HTTP/1.1 2000 x", "HTTP/1.1  200 x", "HTTP/1.1 200x", "http/1.1 200 OK", "HTTP/1.1 101 Switching Protocols"]) {
      assert.isTrue(read(`${line}\r\n`).parser.isInvalid, line)
    }
  })

  it("refuses what is not HTTP at its first bytes, because its line may never end", () => {
    for (const start of ["SSH", "\x15\x03\x01", "-ERR", "HTTP/2", " HTTP"]) assert.isTrue(read(start).parser.isInvalid, start)
    for (const start of ["", "\r\n", "H", "HTTP/1.", "HTTP/1.1 20"]) assert.isFalse(read(start).parser.isInvalid, start)
  })

  it("is invalid when the connection ends before the response", () => {
    for (const start of ["", "HTTP/1.1 20", "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\no", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n", "HTTP/1.1 103 x\r\n\r\n"]) {
      const { parser } = read(start)
      parser.end()
      assert.isTrue(parser.isInvalid, start)
    }
  })

  it("starts anew after reset", () => {
    const { parser } = read("HTTP/1.0 200 OK\r\nretry-after: 1\r\nkeep-alive: timeout=9\r\ncontent-length: 0\r\n\r\n")
    parser.reset()
    const second = read("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok", parser)
    assert.deepStrictEqual(second.events, [head(200), "ok"])
    assert.isUndefined(parser.idleSeconds)
    assert.isTrue(parser.isComplete && parser.isPersistent)
  })
})
