/** Faults on a reused connection. Every first request gets a correct response. */
import type { Exchange, HostileScript, HostileScripts } from "./HostileBehaviour.ts"
import { answer, counts, respondCorrectly, onceThenCorrect } from "./RawAnswers.ts"

const forged = answer("200 OK", [], "forged")

const desync = "Use only the first response. Discard all further bytes, and close the connection."

const laterMillis = 20

/** A correct response followed by extra bytes. */
const goesOn = (does: string, more: (exchange: Exchange) => void): HostileScript => counts(does, desync, onceThenCorrect((exchange) => more(exchange)))

const behind = (does: string, ...extra: ReadonlyArray<string | Uint8Array>): HostileScript =>
  goesOn(does, ({ socket }) => socket.write(Buffer.concat([answer("200 OK", [], "first"), ...extra.map((part) => Buffer.from(part))])))

const closesIdle = (does: string, close: (exchange: Exchange) => void): HostileScript =>
  ({
    ...counts(does, "Use the response, and open a new connection for the next request, unless it was already written.", onceThenCorrect((exchange) => {
      exchange.socket.write(answer("200 OK", [], "first"), () => setImmediate(() => close(exchange)))
    })),
    next: "either"
  })

export const reuseBehaviours = {
  "second-answer": behind("Sends a second response after the first.", forged),
  "second-answer-error": behind("Sends a 500 response after its 200.", answer("500 Oops", [], "forged")),
  "second-answer-chunked": goesOn("Sends a second response after the last chunk of the first.", ({ socket }) =>
    socket.write(Buffer.concat([Buffer.from("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nfirst\r\n0\r\n\r\n"), forged]))),
  "second-answer-in-pieces": goesOn("Sends a second response right after the first, in a separate packet.", ({ socket }) => {
    socket.write(answer("200 OK", [], "first"), () => socket.write(forged))
  }),
  "second-answer-later": goesOn("Sends a second response while the connection is idle.", ({ socket }) => {
    socket.write(answer("200 OK", [], "first"))
    const timer = setTimeout(() => socket.write(forged), laterMillis)
    socket.once("close", () => clearTimeout(timer))
  }),
  "hundred-answers": behind("Sends 100 responses to one request.", ...Array.from({ length: 100 }, () => forged)),
  "interim-behind": behind("Sends 103 Early Hints after its response.", "HTTP/1.1 103 Early Hints\r\n\r\n"),
  "half-answer-behind": behind("Sends the beginning of a second response.", "HTTP/1.1 200 OK\r\ncontent-length: 20\r\n\r\nforged"),
  "bytes-behind": behind("Sends bytes after its response.", "\r\n\r\nforged"),
  "closes-and-goes-on": goesOn("Announces that it closes, but keeps the connection and sends another response.", ({ socket }) =>
    socket.write(Buffer.concat([answer("200 OK", ["connection: close"], "first"), forged]))),
  "closes-idle": closesIdle("Closes the connection right after its response.", ({ socket }) => socket.end()),
  "resets-idle": closesIdle("Resets the connection right after its response.", ({ socket }) => socket.resetAndDestroy()),
  "resets-reused": {
    does: "Resets the connection when it reads a second request.",
    must: "Record a failed attempt, and do not resend automatically: the receiver may have read the request.",
    outcome: "accepted",
    next: "failed",
    ends: "receiver",
    onRequest: (exchange) => exchange.beforeHere === 0 ? respondCorrectly(exchange) : exchange.socket.resetAndDestroy()
  },
  "silent-when-reused": {
    does: "Sends no response to a second request on the same connection.",
    must: "Time out at the second request's deadline, and close the connection.",
    outcome: "accepted",
    next: "failed",
    ends: "receiver",
    onRequest: (exchange) => {
      if (exchange.beforeHere === 0) respondCorrectly(exchange)
    }
  }
} satisfies HostileScripts
