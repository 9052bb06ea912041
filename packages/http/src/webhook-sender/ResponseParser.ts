/** Reads one HTTP/1.1 response to a POST: bytes in, events out. It does no I/O, so it can be tested with any bytes cut anywhere. */

/** The parts of a final head that the sender uses. Of repeated headers the first one counts. */
export interface ResponseHead {
  /** 200 to 999 */
  readonly status: number
  readonly retryAfter: string | undefined
  readonly location: string | undefined
  readonly date: string | undefined
}

export interface ResponseEvents {
  /** An interim response (1xx) ended. */
  readonly onInterim: () => void
  readonly onHead: (head: ResponseHead) => void
  /** A part of the body: `bytes` from `start` up to `end`. The bytes are valid during the call only. */
  readonly onBody: (bytes: Buffer, start: number, end: number) => void
}

/**
 * What the next byte belongs to. `complete` and `invalid` are final: nothing more is read.
 *
 * Lines are kept until their end and then checked as a whole, therefore it does not matter where the bytes are cut.
 */
type Phase =
  | "status-line"
  | "fields"
  | "length-body"
  | "close-body"
  | "chunk-size"
  | "chunk"
  | "chunk-end"
  | "trailers"
  | "complete"
  | "invalid"

const CR = 13
const LF = 10

/**
 * Follows RFC 9112, and is strict where two parsers could disagree about where a response ends: line breaks are CR LF, no folded
 * headers, one `content-length` at most, and none together with `transfer-encoding`.
 *
 * The caller bounds the bytes: at most that many are kept.
 */
export class ResponseParser {
  #phase: Phase = "status-line"
  /** The beginning of a line whose end has not arrived. */
  #line = ""
  #status = 0
  #isHttp10 = false
  /** Whether there is a `transfer-encoding`, and its last coding in lower case. */
  #isCoded = false
  #coding = ""
  /** The body's declared length, and then how much of the body or chunk is missing. */
  #length: number | undefined
  #closes = false
  #retryAfter: string | undefined
  #location: string | undefined
  #date: string | undefined
  /** Whether the receiver keeps the connection open after this response. */
  isPersistent = false
  /** How long the receiver says it keeps an idle connection, in seconds. */
  idleSeconds: number | undefined

  /** Whether the response has ended. */
  get isComplete(): boolean {
    return this.#phase === "complete"
  }

  /** Whether the response is not HTTP/1.1, or broke off. */
  get isInvalid(): boolean {
    return this.#phase === "invalid"
  }

  /** Prepares for the next response. */
  reset(): void {
    this.#phase = "status-line"
    this.#line = ""
    this.#resetHead()
  }

  #resetHead(): void {
    this.#status = 0
    this.#isHttp10 = false
    this.#isCoded = false
    this.#coding = ""
    this.#length = undefined
    this.#closes = false
    this.isPersistent = false
    this.#retryAfter = undefined
    this.#location = undefined
    this.#date = undefined
    this.idleSeconds = undefined
  }

  /** Reads the first `length` of these bytes. Returns how many belong to the response: all, unless it ended or is invalid. */
  read(bytes: Buffer, length: number, events: ResponseEvents): number {
    let at = 0
    while (at < length && this.#phase !== "complete" && this.#phase !== "invalid") {
      switch (this.#phase) {
        case "length-body":
        case "chunk":
          at = this.#readCounted(bytes, at, length, events)
          break
        case "close-body":
          events.onBody(bytes, at, length)
          at = length
          break
        case "chunk-end":
          at = this.#readChunkEnd(bytes, at)
          break
        default:
          at = this.#readLine(bytes, at, length, events)
      }
    }
    return at
  }

  /** The receiver closed the connection. This completes a body without a declared length, and breaks off any other response. */
  end(): void {
    if (this.#phase === "close-body") this.#phase = "complete"
    else if (this.#phase !== "complete") this.#phase = "invalid"
  }

  #readCounted(bytes: Buffer, at: number, length: number, events: ResponseEvents): number {
    const end = Math.min(length, at + this.#length!)
    events.onBody(bytes, at, end)
    this.#length! -= end - at
    if (this.#length === 0) this.#phase = this.#phase === "chunk" ? "chunk-end" : "complete"
    return end
  }

  /** Exactly CR LF: a chunk that is longer than its size is an error at its first byte. */
  #readChunkEnd(bytes: Buffer, at: number): number {
    const byte = bytes[at]
    if (byte === CR && this.#line === "") this.#line = "\r"
    else if (byte === LF && this.#line === "\r") {
      this.#line = ""
      this.#phase = "chunk-size"
    } else this.#phase = "invalid"
    return at + 1
  }

  #readLine(bytes: Buffer, at: number, length: number, events: ResponseEvents): number {
    let start = at
    if (this.#phase === "status-line" && this.#line === "") {
      while (start < length && (bytes[start] === CR || bytes[start] === LF)) start += 1
    }
    let end = start
    while (end < length && bytes[end] !== LF) end += 1
    if (end === length) {
      this.#line += bytes.toString("latin1", start, end)
      // Data that is not HTTP may never end its line.
      if (this.#phase === "status-line" && !httpVersion.startsWith(this.#line.slice(0, httpVersion.length))) this.#phase = "invalid"
      return length
    }
    if (this.#line === "" && end > start && bytes[end - 1] === CR) this.#endLine(bytes.toString("latin1", start, end - 1), events)
    else {
      const line = this.#line + bytes.toString("latin1", start, end)
      this.#line = ""
      if (line.endsWith("\r")) this.#endLine(line.slice(0, -1), events)
      else this.#phase = "invalid"
    }
    return end + 1
  }

  /** `line` is without its line break. */
  #endLine(line: string, events: ResponseEvents): void {
    switch (this.#phase) {
      case "status-line":
        return this.#readStatus(line)
      case "fields":
        if (line === "") return this.#endHead(events)
        if (!fieldLine.test(line)) this.#phase = "invalid"
        else if (usedInitials.has(line.charCodeAt(0) | 0x20)) this.#readField(line)
        return
      case "chunk-size":
        return this.#readChunkSize(line)
      default:
        // Trailers must be headers in form, and mean nothing: a receiver could otherwise change the head after it was used.
        if (line === "") this.#phase = "complete"
        else if (!fieldLine.test(line)) this.#phase = "invalid"
    }
  }

  #readStatus(line: string): void {
    const found = statusLine.exec(line)
    this.#status = found === null ? 0 : Number(found[2])
    this.#isHttp10 = found?.[1] === "0"
    // The sender requests no other protocol.
    this.#phase = this.#status < 100 || this.#status === 101 ? "invalid" : "fields"
  }

  #readField(line: string): void {
    const colon = line.indexOf(":")
    const value = trimmed(line, colon + 1)
    switch (line.slice(0, colon).toLowerCase()) {
      case "content-length":
        if (this.#length !== undefined || !/^\d+$/.test(value) || Number(value) > Number.MAX_SAFE_INTEGER) this.#phase = "invalid"
        else this.#length = Number(value)
        break
      case "transfer-encoding":
        this.#isCoded = true
        if (value !== "") this.#coding = trimmed(value, value.lastIndexOf(",") + 1).toLowerCase()
        break
      case "connection":
        for (const option of value.toLowerCase().split(",")) {
          const name = trimmed(option, 0)
          if (name === "close") this.#closes = true
          else if (name === "keep-alive") this.isPersistent = true
        }
        break
      case "keep-alive": {
        const seconds = /timeout=(\d+)/.exec(value)?.[1]
        if (seconds !== undefined) this.idleSeconds = Number(seconds)
        break
      }
      case "retry-after":
        this.#retryAfter ??= value
        break
      case "location":
        this.#location ??= value
        break
      case "date":
        this.#date ??= value
    }
  }

  #endHead(events: ResponseEvents): void {
    if (this.#isCoded && this.#length !== undefined) this.#phase = "invalid"
    else if (this.#status < 200) {
      this.#resetHead()
      this.#phase = "status-line"
      events.onInterim()
    } else {
      this.isPersistent = !this.#closes && (!this.#isHttp10 || this.isPersistent)
      this.#phase = this.#bodyPhase()
      events.onHead({ status: this.#status, retryAfter: this.#retryAfter, location: this.#location, date: this.#date })
    }
  }

  #bodyPhase(): Phase {
    if (this.#status === 204 || this.#status === 304) {
      // These have no body. A declared one may follow anyway, and must not be read as the next response.
      if (this.#isCoded || (this.#length ?? 0) > 0) this.isPersistent = false
      return "complete"
    }
    if (this.#coding === "chunked") return "chunk-size"
    if (this.#length === 0) return "complete"
    if (this.#length !== undefined) return "length-body"
    this.isPersistent = false
    return "close-body"
  }

  #readChunkSize(line: string): void {
    const size = Number.parseInt(chunkSizeLine.exec(line)?.[1] ?? "", 16)
    if (size <= Number.MAX_SAFE_INTEGER) {
      this.#length = size
      this.#phase = size === 0 ? "trailers" : "chunk"
    } else this.#phase = "invalid"
  }
}

const httpVersion = "HTTP/1."

const statusLine = /^HTTP\/1\.([01]) (\d{3})(?: [^\r]*)?$/

/** A token, a colon at once, and a value without control characters. */
const fieldLine = /^[\w!#$%&'*+\-.^`|~]+:[\t\x20-\x7e\x80-\xff]*$/

/** Extensions mean nothing here. */
const chunkSizeLine = /^([\da-fA-F]+)(?:;[\t\x20-\x7e\x80-\xff]*)?$/

/** First letters of the headers that are used, so that the others are only checked. */
const usedInitials: ReadonlySet<number> = new Set(Array.from("cdklrt", (letter) => letter.charCodeAt(0)))

/** From `start` on, without spaces and tabs around. A regular expression takes quadratic time for a line of spaces. */
const trimmed = (text: string, start: number): string => {
  let from = start
  let to = text.length
  while (from < to && isBlank(text.charCodeAt(from))) from += 1
  while (to > from && isBlank(text.charCodeAt(to - 1))) to -= 1
  return text.slice(from, to)
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09
