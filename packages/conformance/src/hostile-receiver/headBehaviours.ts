/** Responses that are not HTTP/1.1, or have far too large heads. */
import type { HostileScript, HostileScripts } from "./HostileBehaviour.ts"
import { counts, drips, fails, overflows, pours, spells, stalls, writes, writesAndCloses } from "./RawAnswers.ts"

const noHttp = (does: string, ...bytes: ReadonlyArray<string | Uint8Array>): HostileScript =>
  fails(does, "Fail: this is not HTTP/1.1.", writesAndCloses(...bytes))

const noStatus = (line: string): HostileScript => noHttp(`Sends the status line "${line}".`, `${line}\r\ncontent-length: 0\r\n\r\n`)

const noHeader = (does: string, line: string): HostileScript => noHttp(does, `HTTP/1.1 200 OK\r\n${line}\r\ncontent-length: 0\r\n\r\n`)

/** The first frames of an HTTP/2 server: SETTINGS, then GOAWAY. */
const http2Preface = Buffer.from("00000000040000000000" + "0000080700000000000000000000000001", "hex")

export const headBehaviours = {
  "slow-status-line": stalls("Sends the status line slowly, byte by byte.", spells(`HTTP/1.1 200 ${"O".repeat(1_000_000)}`)),
  "slow-head": stalls("Sends headers slowly, and never the last one.", drips("HTTP/1.1 200 OK\r\n", "x: y\r\n")),
  "endless-blank-lines": overflows("failed", "Sends endless blank lines instead of a status line.", pours("", "\r\n")),
  "endless-status-line": overflows("failed", "Sends an endless status line.", pours("HTTP/1.1 200 ", "O")),
  "endless-head": overflows("failed", "Sends endless headers.", pours("HTTP/1.1 200 OK\r\n", "x: y\r\n")),
  "endless-header-name": overflows("failed", "Sends an endless header name.", pours("HTTP/1.1 200 OK\r\n", "x")),
  "endless-header-value": overflows("failed", "Sends an endless header value.", pours("HTTP/1.1 200 OK\r\nx: ", "y")),
  "huge-status-line": overflows("failed", "Sends a status line of 1 MiB.", writes(`HTTP/1.1 200 ${"O".repeat(2 ** 20)}\r\ncontent-length: 0\r\n\r\n`)),
  "huge-header": overflows("failed", "Sends a header of 1 MiB.", writes(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(2 ** 20)}\r\ncontent-length: 0\r\n\r\n`)),
  "many-headers": overflows("failed", "Sends 10,000 headers.", writes(`HTTP/1.1 200 OK\r\n${"a: b\r\n".repeat(10_000)}content-length: 0\r\n\r\n`)),
  "http-0.9": noHttp("Sends a page without a status line, as in HTTP/0.9.", "<html><body>200 OK</body></html>"),
  "http-2": noHttp("Responds like an HTTP/2 server.", http2Preface),
  "ssh-banner": noHttp("Sends the banner of an SSH server.", "SSH-2.0-OpenSSH_9.9\r\n"),
  "smtp-banner": noHttp("Sends the banner of a mail server.", "220 mail.example ESMTP\r\n500 5.5.1 unknown command\r\n"),
  "redis-error": noHttp("Responds like Redis.", "-ERR unknown command 'POST'\r\n"),
  "tls-alert": noHttp("Sends the TLS alert that a TLS server sends for plain HTTP.", Buffer.from("15030100020246", "hex")),
  "garbage": noHttp("Sends random bytes.", Uint8Array.from({ length: 4096 }, (_, at) => at * 167 + 0x80)),
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
  "nul-in-header": noHeader("Sends NUL in a header.", "x: a\0b"),
  "bare-cr-in-header": noHeader("Sends a bare carriage return in a header.", "x: a\rset-cookie: b=c"),
  "space-before-colon": noHeader("Sends a space between a header name and its colon.", "transfer-encoding : chunked"),
  "header-without-colon": noHeader("Sends a header without a colon.", "x y z"),
  "header-not-ascii": counts(
    "Sends bytes that are neither ASCII nor UTF-8 in the status line and headers.",
    "Use the status, and store only printable characters of the rest.",
    writes("HTTP/1.1 200 Gr\xfc\xdfe\r\nx-name: \xff\xfe\xe4\r\ncontent-length: 2\r\n\r\nok")
  ),
  "http-1.0": counts("Responds with HTTP/1.0 and a body that ends with the connection.", "Accept it.", writesAndCloses("HTTP/1.0 200 OK\r\n\r\nold but fine"))
} satisfies HostileScripts
