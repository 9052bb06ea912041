/** Responses that are not HTTP/1.1, or have far too large heads. */
import type { HostileScript, HostileScripts } from "./HostileBehaviour.ts"
import { counts, drips, fails, overflows, pours, spells, stalls, writes, writesAndCloses } from "./RawAnswers.ts"

const noHttp = (does: string, ...bytes: ReadonlyArray<string | Uint8Array>): HostileScript =>
  fails(does, "Fail: this is not HTTP/1.1.", writesAndCloses(...bytes))

const noStatus = (line: string): HostileScript => noHttp(`Answers the status line "${line}".`, `${line}\r\ncontent-length: 0\r\n\r\n`)

const noHeader = (does: string, line: string): HostileScript => noHttp(does, `HTTP/1.1 200 OK\r\n${line}\r\ncontent-length: 0\r\n\r\n`)

/** The first frames of an HTTP/2 server: SETTINGS, then GOAWAY. */
const http2Preface = Buffer.from("00000000040000000000" + "0000080700000000000000000000000001", "hex")

export const headBehaviours = {
  "slow-status-line": stalls("Spells the status line byte by byte.", spells(`HTTP/1.1 200 ${"O".repeat(1_000_000)}`)),
  "slow-head": stalls("Sends a header now and then, and never the last.", drips("HTTP/1.1 200 OK\r\n", "x: y\r\n")),
  "endless-blank-lines": overflows("failed", "Sends blank lines instead of a status line.", pours("", "\r\n")),
  "endless-status-line": overflows("failed", "Sends a status line without end.", pours("HTTP/1.1 200 ", "O")),
  "endless-head": overflows("failed", "Sends headers without end.", pours("HTTP/1.1 200 OK\r\n", "x: y\r\n")),
  "endless-header-name": overflows("failed", "Sends a header's name without end.", pours("HTTP/1.1 200 OK\r\n", "x")),
  "endless-header-value": overflows("failed", "Sends a header's value without end.", pours("HTTP/1.1 200 OK\r\nx: ", "y")),
  "huge-status-line": overflows("failed", "Sends a status line of 1 MiB.", writes(`HTTP/1.1 200 ${"O".repeat(2 ** 20)}\r\ncontent-length: 0\r\n\r\n`)),
  "huge-header": overflows("failed", "Sends a header of 1 MiB.", writes(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(2 ** 20)}\r\ncontent-length: 0\r\n\r\n`)),
  "many-headers": overflows("failed", "Sends 10,000 headers.", writes(`HTTP/1.1 200 OK\r\n${"a: b\r\n".repeat(10_000)}content-length: 0\r\n\r\n`)),
  "http-0.9": noHttp("Answers a page without a status line, as HTTP/0.9 did.", "<html><body>200 OK</body></html>"),
  "http-2": noHttp("Answers as an HTTP/2 server does.", http2Preface),
  "ssh-banner": noHttp("Greets as an SSH server does.", "SSH-2.0-OpenSSH_9.9\r\n"),
  "smtp-banner": noHttp("Greets as a mail server does.", "220 mail.example ESMTP\r\n500 5.5.1 unknown command\r\n"),
  "redis-error": noHttp("Answers as Redis does.", "-ERR unknown command 'POST'\r\n"),
  "tls-alert": noHttp("Answers as a TLS server does to plain HTTP.", Buffer.from("15030100020246", "hex")),
  "garbage": noHttp("Answers bytes that mean nothing.", Uint8Array.from({ length: 4096 }, (_, at) => at * 167 + 0x80)),
  "echo": fails("Sends the request back.", "Fail: this is not HTTP/1.1.", ({ request, socket }) => socket.end(`${request.head}\r\n\r\n${request.body.toString("latin1")}`)),
  "status-0": noStatus("HTTP/1.1 000 Nothing"),
  "status-99": noStatus("HTTP/1.1 99 Less"),
  "status-1000": noStatus("HTTP/1.1 1000 More"),
  "status-2000": noStatus("HTTP/1.1 2000 OK"),
  "status-negative": noStatus("HTTP/1.1 -200 OK"),
  "status-600": noStatus("HTTP/1.1 600 Beyond"),
  "status-999": noStatus("HTTP/1.1 999 Request Denied"),
  "version-9.9": noStatus("HTTP/9.9 200 OK"),
  "version-icy": noStatus("ICY 200 OK"),
  "nul-in-header": noHeader("Puts NUL into a header.", "x: a\0b"),
  "bare-cr-in-header": noHeader("Puts a lone carriage return into a header.", "x: a\rset-cookie: b=c"),
  "space-before-colon": noHeader("Puts a blank between a header's name and its colon.", "transfer-encoding : chunked"),
  "header-without-colon": noHeader("Sends a header without a colon.", "x y z"),
  "header-not-ascii": counts(
    "Sends bytes in its status line and headers that are no ASCII and no UTF-8.",
    "Take the status, and keep nothing of the rest that is not printable.",
    writes("HTTP/1.1 200 Gr\xfc\xdfe\r\nx-name: \xff\xfe\xe4\r\ncontent-length: 2\r\n\r\nok")
  ),
  "http-1.0": counts("Answers HTTP/1.0, with a body that ends with the connection.", "Take it.", writesAndCloses("HTTP/1.0 200 OK\r\n\r\nold but fine"))
} satisfies HostileScripts
