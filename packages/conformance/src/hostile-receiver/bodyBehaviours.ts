/** Endless bodies, huge bodies, wrong lengths, and unprintable content. */
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib"
import type { HostileScript, HostileScripts } from "./HostileBehaviour.ts"
import { answers, counts, drips, fails, overflows, pours, stalls, writes, writesAndCloses } from "./RawAnswers.ts"

const framing = "Fail and close the connection: two parsers could read two different responses."

const misframed = (does: string, ...parts: ReadonlyArray<string>): HostileScript => fails(does, framing, writesAndCloses(...parts))

const length = (does: string, value: string): HostileScript => misframed(does, `HTTP/1.1 200 OK\r\n${value}\r\n\r\nhello`)

export const framingBehaviours = {
  "short-body": misframed("Declares a body of 100 bytes and closes after ten.", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n0123456789"),
  "long-body": counts(
    "Declares a body of four bytes and sends ten.",
    "Accept the first four bytes as the body and close the connection.",
    writes("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n0123456789")
  ),
  "length-negative": length("Declares a body of -5 bytes.", "content-length: -5"),
  "length-signed": length("Declares a body of +5 bytes.", "content-length: +5"),
  "length-hex": length("Declares a body of 0x5 bytes.", "content-length: 0x5"),
  "length-huge": length("Declares a body of 2^70 bytes.", "content-length: 1180591620717411303424"),
  "length-twice": length("Declares two lengths, five bytes and six.", "content-length: 5\r\ncontent-length: 6"),
  "length-and-chunked": misframed(
    "Declares a length and chunked encoding.",
    "HTTP/1.1 200 OK\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n"
  ),
  "chunked-not-last": misframed("Lists chunked encoding before gzip, so it is not the last encoding.", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked, gzip\r\ncontent-length: 5\r\n\r\nhello"),
  "chunk-size-no-number": misframed("Sends a chunk size that is not a number.", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n"),
  "chunk-size-huge": misframed("Sends a chunk size beyond 64 bits.", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\nx"),
  "chunk-size-negative": misframed("Sends a negative chunk size.", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n"),
  "chunk-longer": misframed("Sends a chunk that is longer than its size.", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n"),
  "chunks-cut-off": misframed("Closes before the last chunk.", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n"),
  "trailers": fails(
    "Responds 503 with trailers that look like headers.",
    "Use the status and ignore the trailers.",
    writes("HTTP/1.1 503 Later\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nretry-after: 86400\r\nset-cookie: trailer=1\r\ncontent-length: 9\r\n\r\n")
  ),
  "endless-trailers": overflows("either", "Sends endless trailers.", pours("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n", "x: y\r\n"))
} satisfies HostileScripts

const bombBytes = 64 * 1024 * 1024
const bombs = new Map<string, Buffer>()

const bomb = (encoding: string, compress: (zeros: Buffer) => Buffer): HostileScript =>
  ({
    ...counts(
      `Sends 64 MiB of zeros in a few kilobytes, encoded as ${encoding}.`,
      "Do not decode the body, or decode only a few kilobytes.",
      (exchange) => answers("200 OK", [`content-encoding: ${encoding}`], bombs.get(encoding)!)(exchange)
    ),
    prepare: () => {
      if (!bombs.has(encoding)) bombs.set(encoding, compress(Buffer.alloc(bombBytes)))
    }
  })

const shown = (does: string, body: string | Uint8Array): HostileScript =>
  counts(does, "Store a short beginning without control characters, and escape it when displaying it.", answers("200 OK", [], body))

const bodiless = (status: string, does: string): HostileScript =>
  (status.startsWith("2") ? counts : fails)(
    does,
    "Use the status, and do not read the body as the next response.",
    answers(status, [], "HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nforged")
  )

const enough = "Stop reading after a limited number of bytes, close the connection, and use the status."

export const bodyBehaviours = {
  "silent-body": stalls("Declares a body of ten bytes and sends none.", writes("HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n")),
  "slow-body": stalls("Sends the body slowly, byte by byte.", drips("HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n", "x")),
  "slow-chunks": stalls("Sends chunks slowly, and never the last one.", drips("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", "1\r\nx\r\n")),
  "endless-body": overflows("accepted", "Sends an endless body.", pours("HTTP/1.1 200 OK\r\n\r\n", "x".repeat(4096)), enough),
  "endless-error-body": overflows("failed", "Responds 500 with an endless body.", pours("HTTP/1.1 500 Oops\r\ncontent-length: 99999999999\r\n\r\n", "x".repeat(4096)), enough),
  "endless-chunks": overflows("accepted", "Sends endless chunks of one byte.", pours("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", "1\r\nx\r\n"), enough),
  "endless-chunk": overflows("accepted", "Sends one chunk of 2^40 bytes.", pours("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n10000000000\r\n", "x".repeat(4096)), enough),
  "endless-chunk-extension": overflows("accepted", "Sends an endless chunk extension.", pours("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;x=", "y"), enough),
  "gzip-bomb": bomb("gzip", gzipSync),
  "double-gzip-bomb": bomb("gzip, gzip", (zeros) => gzipSync(gzipSync(zeros))),
  "deflate-bomb": bomb("deflate", deflateSync),
  "brotli-bomb": bomb("br", (zeros) => brotliCompressSync(zeros)),
  "zstd-bomb": bomb("zstd", (zeros) => zstdCompressSync(zeros)),
  "not-gzip": counts("Declares gzip and sends plain text.", "Use the status.", answers("200 OK", ["content-encoding: gzip"], "plain")),
  "body-with-204": bodiless("204 No Content", "Responds 204 with a body that looks like a response."),
  "body-with-205": bodiless("205 Reset Content", "Responds 205 with a body that looks like a response."),
  "body-with-304": bodiless("304 Not Modified", "Responds 304 with a body that looks like a response."),
  "body-html": shown("Sends an HTML page with a script.", "<!doctype html><script>alert(document.cookie)</script><img src=x onerror=alert(1)>"),
  "body-terminal": shown("Sends terminal escape sequences.", "\u001b[2J\u001b[31mred\u001b]0;title\u0007\u001b]8;;http://evil.example\u001b\\link\u009b31m\u0008\u0007"),
  "body-nul": shown("Sends NUL characters, which Postgres text cannot store.", "a\0b\0c"),
  "body-broken-utf-8": shown("Sends bytes that are not UTF-8.", Buffer.from("fffec3280080e2828cf0288cbceda080c0af", "hex")),
  "body-directions": shown("Sends bidirectional and invisible characters.", "paid\u202e0001\u2066\u200b\ufeff\u2028\u00ad"),
  "body-log-lines": shown("Sends line breaks with a forged log line.", "ok\r\n2026-01-01T00:00:00Z ERROR tenant deleted\n\u0085\u2029level=fatal"),
  "body-formula": shown("Sends a spreadsheet formula.", "=HYPERLINK(\"http://evil.example\",\"open\")"),
  "body-one-glyph": shown("Sends one letter with 100,000 combining accents.", `a${"\u0301".repeat(100_000)}`)
} satisfies HostileScripts
