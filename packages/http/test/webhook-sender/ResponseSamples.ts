/** Generated and mutated responses, cut anywhere. The same random numbers give the same response. */
import type { SeededRandom } from "@waybill/conformance/fixtures"

/** A response as the pieces in which it arrives, before the receiver closes the connection. */
export const responseOf = (random: SeededRandom): ReadonlyArray<Buffer> => {
  const whole = wellFormed(random)
  let bytes = Buffer.from(whole, "latin1")
  for (let left = random.share(0.6) ? 1 + random.below(3) : 0; left > 0; left--) bytes = mutate(bytes, random)
  return cut(bytes, random)
}

const wellFormed = (random: SeededRandom): string => {
  const interim = Array.from({ length: random.share(0.15) ? 1 + random.below(2) : 0 }, () => `${statusLine(random, ["102", "103", "103", "100", "150"])}${fields(random)}\r\n`)
  const blank = random.share(0.05) ? random.pick(["\r\n", "\n", "\r\n\r\n", "\r"]) : ""
  const [framing, body] = framed(random)
  const headers = random.shuffle([fields(random), fields(random), framing]).join("")
  const behind = random.share(0.1) ? random.pick(["\r\n", "x", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", "0\r\n\r\n"]) : ""
  return `${blank}${interim.join("")}${statusLine(random, statuses)}${headers}\r\n${body}${behind}`
}

const statuses = ["200", "200", "200", "202", "204", "205", "301", "304", "400", "410", "429", "500", "503", "600", "999", "101", "000", "099"]

const statusLine = (random: SeededRandom, among: ReadonlyArray<string>): string => {
  const version = random.share(0.9) ? "HTTP/1.1" : random.pick(["HTTP/1.0", "HTTP/1.0", "HTTP/0.9", "HTTP/2.0", "HTTP/1.2", "HTTP/9.9", "http/1.1", "ICE/1.1", "RTSP/1.0", "HTTP"])
  return `${version} ${random.pick(among)}${random.pick([" OK", " OK", " Gr\xfc\xdfe", " ", "", "  two  words ", "\t"])}\r\n`
}

const fields = (random: SeededRandom): string =>
  Array.from({ length: random.below(3) }, () => `${random.pick(names)}${random.share(0.98) ? ":" : random.pick([" :", "", "::"])}${random.pick(["", " ", " ", "\t ", "  "])}${random.pick(values)}${random.pick(["", "", "", " ", "\t"])}\r\n`).join("")

const names = ["x-name", "Date", "Retry-After", "retry-after", "location", "Location", "connection", "Connection", "keep-alive", "set-cookie", "content-type", "te", "upgrade", "content-lengths", "connectio", "x!#$%&'*+-.^_`|~"]
const values = ["", "120", "https://a.example/x?y=1", "close", "keep-alive", "Keep-Alive, close", "upgrade", "timeout=5", "timeout=1", "timeout=5, max=100", "a, b", "\xff\xe4", "text/html; charset=utf-8", "closed", ",close", "close,", "close x", "Thu, 01 Jan 2026 00:00:00 GMT"]

/** The headers that say where the body ends, and a body that mostly agrees. */
const framed = (random: SeededRandom): readonly [headers: string, body: string] => {
  const body = random.pick(["", "ok", "hello, world", "x".repeat(300), "a\r\nb\r\n\r\n", "\0\xff\x1b[31m"])
  const length = `${random.pick(["content-length", "Content-Length"])}:${random.pick(["", " ", "  "])}`
  const coding = `${random.pick(["transfer-encoding", "Transfer-Encoding"])}: `
  switch (random.below(12)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return [`${length}${body.length}\r\n`, body]
    case 4:
      return [`${length}${random.pick([`0${body.length}`, `${body.length + 1}`, `${Math.max(0, body.length - 1)}`, "-1", "+2", "0x2", "2 2", "2,2", "", `${body.length} `, "1e1", "9007199254740993", "18446744073709551615", "18446744073709551616"])}\r\n`, body]
    case 5:
    case 6:
    case 7:
      return [`${coding}${random.pick(["chunked", "chunked", "Chunked"])}\r\n`, chunked(body, random)]
    case 8:
      return [`${coding}${random.pick(["gzip, chunked", "gzip,chunked", "chunked, gzip", "chunked,", "chunked\t", "chunked ", "identity", "chunked, chunked", "", ",chunked", "chunked;q=1", "xchunked"])}\r\n`, chunked(body, random)]
    case 9:
      return [random.shuffle([`${length}${body.length}\r\n`, random.pick([`${coding}chunked\r\n`, `${length}${body.length}\r\n`, `${coding}\r\n`, `${coding}gzip\r\n`])]).join(""), random.share(0.5) ? body : chunked(body, random)]
    case 10:
      return [`${coding}${random.pick(["chunked", "gzip", ""])}\r\n${coding}${random.pick(["chunked", "gzip", ""])}\r\n`, chunked(body, random)]
    default:
      return ["", body]
  }
}

const chunked = (body: string, random: SeededRandom): string => {
  let text = ""
  for (let at = 0; at < body.length;) {
    const size = 1 + random.below(body.length - at)
    const hex = random.pick([size.toString(16), size.toString(16), size.toString(16).toUpperCase(), size.toString(16).padStart(6, "0")])
    text += `${hex}${extension(random)}\r\n${body.slice(at, at + size)}\r\n`
    at += size
  }
  const trailers = random.share(0.2) ? random.pick(["x: y\r\n", "retry-after: 5\r\n", "content-length: 3\r\n", "transfer-encoding: chunked\r\n", "connection: close\r\n", "x\r\n", " folded\r\n", "x: \0\r\n"]) : ""
  return `${text}${random.pick(["0", "0", "0", "000", "", "10000000000000000", "20000000000001", "-1", "g"])}${extension(random)}\r\n${trailers}\r\n`
}

const extension = (random: SeededRandom): string =>
  random.share(0.9) ? "" : random.pick([";x", ";x=y", ";x=\"y z\"", "; x=y", ";", ";=", ";x=\"\\\"\"", " ", ";x =y", ";x=y\x01", ";\xe4=\xe4"])

const mutate = (bytes: Buffer<ArrayBuffer>, random: SeededRandom): Buffer<ArrayBuffer> => {
  const at = random.below(bytes.length + 1)
  const after = Math.min(bytes.length, at + 1 + random.below(random.share(0.8) ? 3 : 40))
  switch (random.below(7)) {
    case 0:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(after)])
    case 1:
      return Buffer.concat([bytes.subarray(0, at), Buffer.from(random.pick(inserted), "latin1"), bytes.subarray(at)])
    case 2:
      return Buffer.concat([bytes.subarray(0, at), Buffer.from(random.pick(inserted), "latin1"), bytes.subarray(after)])
    case 3:
      return Buffer.concat([bytes.subarray(0, after), bytes.subarray(at)])
    case 4:
      return Buffer.from(bytes.subarray(0, at))
    case 5: {
      const changed = Buffer.from(bytes)
      if (at < changed.length) changed[at] = random.share(0.5) ? changed[at]! ^ (1 << random.below(8)) : random.below(256)
      return changed
    }
    default: {
      // A line break of another kind.
      const line = bytes.indexOf("\r\n", at)
      if (line === -1) return bytes
      return Buffer.concat([bytes.subarray(0, line), Buffer.from(random.pick(["\n", "\r", "\r\r\n", "\n\r", "\r\n ", "\r\n\t", "\r\n\r\n"])), bytes.subarray(line + 2)])
    }
  }
}

const inserted = ["\r", "\n", "\r\n", "\r\n\r\n", "\0", " ", "\t", ":", ",", ";", "0", "1", "f", "\x7f", "\x80", "\xff", "close", "chunked", "HTTP/1.1 200 OK\r\n", "content-length: 1\r\n", "transfer-encoding: chunked\r\n", "x: y\r\n", "\x01", "\""]

const cut = (bytes: Buffer, random: SeededRandom): ReadonlyArray<Buffer> => {
  const every = random.pick([bytes.length, bytes.length, 1, 2, 7, 40])
  const pieces: Array<Buffer> = []
  for (let at = 0; at < bytes.length;) {
    const end = at + (every === bytes.length || every === 1 ? every : 1 + random.below(every))
    pieces.push(bytes.subarray(at, end))
    at = end
  }
  return pieces
}
