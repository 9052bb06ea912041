/** Raw responses, and ways to send them. */
import type { Socket } from "node:net"
import type { Exchange, HostileOutcome, HostileScript } from "./HostileBehaviour.ts"

type Part = string | Uint8Array

/** A correct response that keeps the connection and names its request. */
export const respondCorrectly = ({ before, socket }: Exchange): void => {
  const body = `correct ${before}`
  socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
}

/** Sends these bytes for every request and keeps the connection. */
export const writes = (...parts: ReadonlyArray<Part>) => ({ socket }: Exchange): void => {
  socket.write(Buffer.concat(parts.map((part) => typeof part === "string" ? Buffer.from(part, "latin1") : part)))
}

/** Sends these bytes for every request and closes. */
export const writesAndCloses = (...parts: ReadonlyArray<Part>) => (exchange: Exchange): void => {
  writes(...parts)(exchange)
  exchange.socket.end()
}

/** A complete response: a status with its reason, headers, a body with its length. */
export const answers = (status: string, headers: ReadonlyArray<string> = [], body: Part = "") => writes(answer(status, headers, body))

export const answer = (status: string, headers: ReadonlyArray<string> = [], body: Part = ""): Buffer => {
  const bytes = typeof body === "string" ? Buffer.from(body) : body
  const lines = [`HTTP/1.1 ${status}`, ...headers, `content-length: ${bytes.length}`, "", ""]
  return Buffer.concat([Buffer.from(lines.join("\r\n"), "latin1"), bytes])
}

const dripMillis = 20

/** `start` at once, then `part` repeatedly, slowly. */
export const drips = (start: string, part: string) => ({ socket }: { readonly socket: Socket }): void => {
  socket.write(start)
  const timer = setInterval(() => socket.write(part), dripMillis)
  socket.once("close", () => clearInterval(timer))
}

/** `text` byte by byte, slowly. */
export const spells = (text: string) => ({ socket }: Exchange): void => {
  let at = 0
  const timer = setInterval(() => {
    if (at < text.length) socket.write(text[at++]!)
    else clearInterval(timer)
  }, dripMillis)
  socket.once("close", () => clearInterval(timer))
}

/** `start`, then `part` as fast as it is read, until the connection ends. */
export const pours = (start: string, part: string) => ({ socket }: Exchange): void => {
  const many = Buffer.from(part.repeat(Math.max(1, Math.ceil(16_384 / part.length))), "latin1")
  const more = () => {
    while (!socket.destroyed && socket.write(many));
  }
  socket.on("drain", more)
  socket.write(start)
  more()
}

/** `hostile` for the first request, then correct responses. */
export const onceThenCorrect = (hostile: (exchange: Exchange) => void) => (exchange: Exchange): void =>
  exchange.before === 0 ? hostile(exchange) : respondCorrectly(exchange)

type OnRequest = NonNullable<HostileScript["onRequest"]>

/** An attempt that the receiver's response ends. */
const answered = (outcome: HostileOutcome) => (does: string, must: string, onRequest: OnRequest): HostileScript => ({ does, must, outcome, ends: "receiver", onRequest })

/** A failed attempt. */
export const fails = answered("failed")

/** An unusual response that a sender has to accept. */
export const counts = answered("accepted")

/** A response that a sender may accept or not. */
export const mayCount = answered("either")

/** An endless response; a limit of the sender ends it. */
export const overflows = (
  outcome: HostileOutcome,
  does: string,
  onRequest: OnRequest,
  must = "Stop reading after a limited number of bytes, and close the connection."
): HostileScript => ({ does, must, outcome, ends: "limit", onRequest })

/** Only the deadline ends it. */
export const stalls = (does: string, onRequest: OnRequest = () => {}): HostileScript => ({
  does,
  must: "Time out at the deadline, which covers connecting, the head and the body, and close the connection.",
  outcome: "failed",
  ends: "deadline",
  onRequest
})
