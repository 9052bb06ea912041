/** Endless bodies, huge bodies, wrong lengths, and unprintable content. */
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib"
import type { HostileScript, HostileScripts } from "./HostileBehaviour.ts"
import { answers, counts, drips, fails, overflows, pours, stalls, writes, writesAndCloses } from "./RawAnswers.ts"

const framing = "Fail, and never use the connection again: two readers could see two different answers in it."

const misframed = (does: string, ...parts: ReadonlyArray<string>): HostileScript => fails(does, framing, writesAndCloses(...parts))

const length = (does: string, value: string): HostileScript => misframed(does, `HTTP/1.1 200 OK\r\n${value}\r\n\r\nhello`)

export const framingBehaviours = {
  "short-body": misframed("Announces 100 bytes and closes after ten.", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n0123456789"),
  "long-body": counts(
    "Announces four bytes and sends ten.",
    "Take the four, and never use the connection again.",
    writes("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n0123456789")
  ),
  "length-negative": length("Announces -5 bytes.", "content-length: -5"),
  "length-signed": length("Announces +5 bytes.", "content-length: +5"),
  "length-hex": length("Announces 0x5 bytes.", "content-length: 0x5"),
  "length-huge": length("Announces 2^70 bytes.", "content-length: 1180591620717411303424"),
  "length-twice": length("Announces five bytes and six.", "content-length: 5\r\ncontent-length: 6"),
  "length-and-chunked": misframed(
    "Announces a length and chunks.",
    "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"
  ),
  "chunked-not-last": misframed("Chunks first and compresses then.", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked, gzip\r\ncontent-length: 5\r\n\r\nhello"),
  "chunk-size-no-number": misframed("Sends a chunk size that is no number.", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"),
  "chunk-size-huge": misframed("Sends a chunk size beyond 64 bits.", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\nx"),
  "chunk-size-negative": misframed("Sends a negative chunk size.", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n"),
  "chunk-longer": misframed("Sends a chunk that is longer than it says.", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n"),
  "chunks-cut-off": misframed("Closes before the last chunk.", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n"),
  "trailers": fails(
    "Answers 503, with trailers that look like headers.",
    "Take the answer, and nothing from trailers.",
    writes("HTTP/1.1 503 Later\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nretry-after: 86400\r\nset-cookie: trailer=1\r\ncontent-length: 9\r\n\r\n")
  ),
  "endless-trailers": overflows("either", "Sends trailers without end.", pours("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n", "x: y\r\n"))
} satisfies HostileScripts

const bombBytes = 64 * 1024 * 1024
const bombs = new Map<string, Buffer>()

const bomb = (encoding: string, compress: (zeros: Buffer) => Buffer): HostileScript =>
  ({
    ...counts(
      `Sends 64 MiB of zeros in a few kilobytes, encoded as ${encoding}.`,
      "Do not decode, or not more than a few kilobytes of it.",
      (exchange) => answers("200 OK", [`content-encoding: ${encoding}`], bombs.get(encoding)!)(exchange)
    ),
    prepare: () => {
      if (!bombs.has(encoding)) bombs.set(encoding, compress(Buffer.alloc(bombBytes)))
    }
  })

const shown = (does: string, body: string | Uint8Array): HostileScript =>
  counts(does, "Keep a bounded beginning as text without control characters, and escape it wherever it is shown.", answers("200 OK", [], body))

const bodiless = (status: string, does: string): HostileScript => ({
  does,
  must: "Take the status, and never the bytes behind it for the next answer.",
  outcome: status.startsWith("2") ? "accepted" : "failed",
  ends: "receiver",
  onRequest: answers(status, [], "HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged")
})

const enough = "Stop reading after a bounded number of bytes, close the connection, and let the status count."

export const bodyBehaviours = {
  "silent-body": stalls("Announces ten bytes and sends none.", writes("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n")),
  "slow-body": stalls("Sends a byte of the body now and then.", drips("HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n", "x")),
  "slow-chunks": stalls("Sends a chunk now and then, and never the last.", drips("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", "1\r\nx\r\n")),
  "endless-body": overflows("accepted", "Sends a body without end.", pours("HTTP/1.1 200 OK\r\n\r\n", "x".repeat(4096)), enough),
  "endless-error-body": overflows("failed", "Explains its 500 without end.", pours("HTTP/1.1 500 Oops\r\ncontent-length: 99999999999\r\n\r\n", "x".repeat(4096)), enough),
  "endless-chunks": overflows("accepted", "Sends chunks of one byte without end.", pours("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", "1\r\nx\r\n"), enough),
  "endless-chunk": overflows("accepted", "Sends one chunk of 2^40 bytes.", pours("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n10000000000\r\n", "x".repeat(4096)), enough),
  "endless-chunk-extension": overflows("accepted", "Sends a chunk's extension without end.", pours("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;x=", "y"), enough),
  "gzip-bomb": bomb("gzip", gzipSync),
  "double-gzip-bomb": bomb("gzip, gzip", (zeros) => gzipSync(gzipSync(zeros))),
  "deflate-bomb": bomb("deflate", deflateSync),
  "brotli-bomb": bomb("br", (zeros) => brotliCompressSync(zeros)),
  "zstd-bomb": bomb("zstd", (zeros) => zstdCompressSync(zeros)),
  "not-gzip": counts("Says gzip and sends text.", "Take the status.", answers("200 OK", ["content-encoding: gzip"], "plain")),
  "body-with-204": bodiless("204 No Content", "Answers 204 with a body that looks like an answer."),
  "body-with-205": bodiless("205 Reset Content", "Answers 205 with a body that looks like an answer."),
  "body-with-304": bodiless("304 Not Modified", "Answers 304 with a body that looks like an answer."),
  "body-html": shown("Answers a page with a script.", "<!doctype html><script>alert(document.cookie)</script><img src=x onerror=alert(1)>"),
  "body-terminal": shown("Answers sequences that a terminal obeys.", "\u001b[2J\u001b[31mred\u001b]0;title\u0007\u001b]8;;http://evil.example\u001b\\link\u009b31m\u0008\u0007"),
  "body-nul": shown("Answers NUL, which a database's text cannot hold.", "a\0b\0c"),
  "body-broken-utf-8": shown("Answers bytes that are no UTF-8.", Buffer.from("fffec3280080e2828cf0288cbceda080c0af", "hex")),
  "body-directions": shown("Answers marks that turn text round or hide it.", "paid\u202e0001\u2066\u200b\ufeff\u2028\u00ad"),
  "body-log-lines": shown("Answers what would forge a line of a log.", "ok\r\n2026-01-01T00:00:00Z ERROR tenant deleted\n\u0085\u2029level=fatal"),
  "body-formula": shown("Answers what a spreadsheet would run.", "=HYPERLINK(\"http://evil.example\",\"open\")"),
  "body-one-glyph": shown("Answers one letter under 100,000 accents.", `a${"\u0301".repeat(100_000)}`)
} satisfies HostileScripts
