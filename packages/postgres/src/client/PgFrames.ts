/** Cuts the bytes of a server into messages, and decodes rows where they are. */
import { int32 } from "./PgTypes.ts"
import type { FieldReader, SessionMessage, SessionParser } from "./SqlPgInternals.ts"

const dataRow = 0x44
const readyForQuery = 0x5a

/** Messages without content, by their type. Every statement gets some of them. */
const empty: ReadonlyMap<number, SessionMessage> = new Map<number, SessionMessage>([
  [0x31, { _tag: "ParseComplete" }],
  [0x32, { _tag: "BindComplete" }],
  [0x6e, { _tag: "NoData" }]
])

/** The end of a statement, by the state of the transaction. */
const ready: ReadonlyMap<number, SessionMessage> = new Map<number, SessionMessage>([
  [0x49, { _tag: "ReadyForQuery", status: "I" }],
  [0x54, { _tag: "ReadyForQuery", status: "T" }],
  [0x45, { _tag: "ReadyForQuery", status: "E" }]
])

/** The type of a message, and its length. */
const headerBytes = 5

/**
 * The package's parser copies every chunk into a buffer that it doubles until a row fits: about three times the size of a large row is allocated. This
 * one decodes a row inside its chunk, or in one buffer of its size, and makes no new object for a message without content. All other messages, and
 * everything that is malformed, go to the package's.
 */
export class FrameReader implements SessionParser {
  /** Decodes a field of a row. The package replaces it for each statement. */
  readField: FieldReader | undefined
  private readonly others: SessionParser
  private readonly largest: number
  /** A message, or at first its header, that began in an earlier chunk. */
  private partial: Buffer | undefined = undefined
  private arrived = 0

  constructor(others: SessionParser, largest: number) {
    this.others = others
    this.largest = largest
    this.readField = others.readField
  }

  pushEach(chunk: Uint8Array, onMessage: (message: SessionMessage) => void): void {
    for (let at = 0; at < chunk.length;) {
      const left = chunk.length - at
      if (this.partial !== undefined) at += this.complete(chunk, at, onMessage)
      else if (left < headerBytes) {
        this.keep(headerBytes, chunk, at)
        return
      } else {
        const length = lengthOf(chunk, at)
        if (!this.isValid(length)) return this.others.pushEach(chunk.subarray(at), onMessage)
        if (length > left) {
          this.keep(length, chunk, at)
          return
        }
        this.read(chunk, at, length, onMessage)
        at += length
      }
    }
  }

  /** Adds to the partial message. Returns how many bytes it took. */
  private complete(chunk: Uint8Array, at: number, onMessage: (message: SessionMessage) => void): number {
    const partial = this.partial!
    const size = Math.min(partial.length - this.arrived, chunk.length - at)
    partial.set(chunk.subarray(at, at + size), this.arrived)
    this.arrived += size
    if (this.arrived < partial.length) return size
    this.partial = undefined
    const length = lengthOf(partial, 0)
    if (length > partial.length && this.isValid(length)) this.keep(length, partial, 0)
    else this.read(partial, 0, partial.length, onMessage)
    return size
  }

  private keep(length: number, bytes: Uint8Array, start: number): void {
    this.partial = Buffer.allocUnsafeSlow(length)
    this.partial.set(bytes.subarray(start))
    this.arrived = bytes.length - start
  }

  private isValid(length: number): boolean {
    return length >= headerBytes && length <= this.largest + 1
  }

  private read(bytes: Uint8Array, start: number, length: number, onMessage: (message: SessionMessage) => void): void {
    const type = bytes[start]!
    const known = length === headerBytes ? empty.get(type) : length === headerBytes + 1 && type === readyForQuery ? ready.get(bytes[start + headerBytes]!) : undefined
    if (known !== undefined) return onMessage(known)
    const values = type === dataRow && this.readField !== undefined ? fieldsOf(bytes, start, length, this.readField) : undefined
    if (values !== undefined) return onMessage({ _tag: "DataRow", values })
    this.others.readField = this.readField
    this.others.pushEach(bytes.subarray(start, start + length), onMessage)
  }
}

/** Of the whole message. */
const lengthOf = (bytes: Uint8Array, start: number): number => 1 + int32(bytes, start + 1)

/** The fields of a row; undefined if they do not fill it. */
const fieldsOf = (bytes: Uint8Array, start: number, length: number, readField: FieldReader): ReadonlyArray<unknown> | undefined => {
  const end = start + length
  let at = start + headerBytes + 2
  if (at > end) return undefined
  const values = new Array<unknown>(bytes[at - 2]! << 8 | bytes[at - 1]!)
  for (let column = 0; column < values.length; column++) {
    if (at + 4 > end) return undefined
    const size = int32(bytes, at)
    at += 4
    if (size < -1 || at + size > end) return undefined
    values[column] = readField(bytes, at, size, column)
    if (size > 0) at += size
  }
  return at === end ? values : undefined
}
