/** Bulk statements: arrays as parameters in Postgres' binary format, and result rows as plain arrays. */
import type * as Effect from "effect/Effect"
import type { SqlError } from "effect/sql/SqlError"
import { type ColumnHint, columns, epochOffsetMs, int64Max, int64Min, textsOf } from "./PgTypes.ts"

/** Parameters of a bulk statement: {@link PgArray} and the usual scalars. */
export type BulkValue = PgArray | string | number | bigint | boolean | Date | Uint8Array | null

/** Runs texts with `$1` placeholders: the `PgClient` service. */
export interface BulkRunner {
  /**
   * Runs one statement on the connection of the current transaction, or else on a connection of the pool. Returns its
   * rows as arrays in column order, decoded as `ColumnType` describes.
   *
   * Each array needs a cast in the text (`$1::text[]`): a binary array carries its element type, and Postgres
   * refuses it as another type. `columns` is used only when the statement runs in a host's transaction through
   * `executeSql`, whose rows have no column types. For the same reason every column needs its own name, not a number.
   */
  readonly bulk: (
    statement: string,
    values: ReadonlyArray<BulkValue>,
    columns?: ReadonlyArray<ColumnHint>
  ) => Effect.Effect<ReadonlyArray<ReadonlyArray<unknown>>, SqlError>
}

/**
 * An array parameter. It is encoded as bytes when its statement is sent, or as an array literal if only text can
 * be sent. Bulk and ordinary statements accept it.
 *
 * @stability unstable
 */
export class PgArray {
  readonly type: PgArrayType
  readonly elements: ReadonlyArray<unknown>

  constructor(type: PgArrayType, elements: ReadonlyArray<unknown>) {
    this.type = type
    this.elements = elements
  }

  /** Its type's oid. */
  get oid(): number {
    return columns[this.type].arrayOid!
  }

  /** Throws if an element has another type; the message names its index, never its value. */
  encode(): Buffer {
    return encoders[this.type](this.elements)
  }

  /** The array literal, `{1,NULL,3}`. Throws under the same condition. */
  literal(): string {
    const write = texts[this.type]
    const parts = this.elements.map((element, index) => element == null ? "NULL" : quote(write(element, index)))
    return `{${parts.join(",")}}`
  }
}

/** Array types that can be sent. */
export const arrayTypes = ["bool", "bytea", "float8", "int4", "int8", "text", "timestamptz", "uuid"] as const
export type PgArrayType = typeof arrayTypes[number]

type Encoder = (elements: ReadonlyArray<unknown>) => Buffer

const header = 20

/** Encodes elements of fixed width: the total length is known in advance. */
const fixed = (oid: number, width: number, write: (into: Buffer, element: any, at: number, index: number) => void): Encoder =>
(elements) => {
  const bytes = Buffer.allocUnsafe(header + elements.length * (4 + width))
  let at = header
  let nulls = 0
  for (let index = 0; index < elements.length; index++) {
    const element = elements[index]
    if (element == null) {
      at = bytes.writeInt32BE(-1, at)
      nulls = 1
      continue
    }
    at = bytes.writeInt32BE(width, at)
    write(bytes, element, at, index)
    at += width
  }
  return finish(bytes, oid, elements.length, nulls, at)
}

/** Encodes elements of variable width: measures first, then writes. */
const varying = (oid: number, width: (element: any, index: number) => number, write: (into: Buffer, element: any, at: number) => void): Encoder =>
(elements) => {
  const widths = new Array<number>(elements.length)
  let length = header + 4 * elements.length
  let nulls = 0
  for (let index = 0; index < elements.length; index++) {
    const element = elements[index]
    if (element == null) {
      widths[index] = -1
      nulls = 1
    } else {
      length += widths[index] = width(element, index)
    }
  }
  const bytes = Buffer.allocUnsafe(length)
  let at = header
  for (let index = 0; index < elements.length; index++) {
    const wide = widths[index] as number
    at = bytes.writeInt32BE(wide, at)
    if (wide < 0) continue
    write(bytes, elements[index], at)
    at += wide
  }
  return finish(bytes, oid, elements.length, nulls, at)
}

const finish = (bytes: Buffer, oid: number, length: number, nulls: number, end: number): Buffer => {
  bytes.writeInt32BE(length === 0 ? 0 : 1, 0)
  bytes.writeInt32BE(nulls, 4)
  bytes.writeInt32BE(oid, 8)
  if (length === 0) return bytes.subarray(0, 12)
  bytes.writeInt32BE(length, 12)
  bytes.writeInt32BE(1, 16)
  return bytes.subarray(0, end)
}

const encoders: Record<PgArrayType, Encoder> = {
  bool: fixed(16, 1, (into, element, at, index) => into.writeUInt8(checked("bool", element, index) ? 1 : 0, at)),
  bytea: varying(17, (element, index) => checked("bytea", element, index).byteLength, (into, element, at) => into.set(element, at)),
  int8: fixed(20, 8, (into, element, at, index) => writeInt8(into, checked("int8", element, index), at)),
  int4: fixed(23, 4, (into, element, at, index) => into.writeInt32BE(checked("int4", element, index), at)),
  text: varying(25, (element, index) => Buffer.byteLength(checked("text", element, index)), (into, element, at) => into.write(element, at)),
  float8: fixed(701, 8, (into, element, at, index) => into.writeDoubleBE(checked("float8", element, index), at)),
  timestamptz: fixed(1184, 8, (into, element, at, index) => writeTimestamp(into, checked("timestamptz", element, index), at)),
  uuid: fixed(2950, 16, (into, element, at, index) => {
    if (typeof element !== "string" || !writeUuid(into, element, at)) checked("uuid", element, index)
  })
}

const texts: Record<PgArrayType, (element: any, index: number) => string> = {
  bool: (element, index) => checked("bool", element, index) ? "t" : "f",
  bytea: (element, index) => {
    const { buffer, byteLength, byteOffset } = checked("bytea", element, index)
    return `\\x${Buffer.from(buffer, byteOffset, byteLength).toString("hex")}`
  },
  int8: (element, index) => String(checked("int8", element, index)),
  int4: (element, index) => String(checked("int4", element, index)),
  text: (element, index) => checked("text", element, index),
  float8: (element, index) => Object.is(element, -0) ? "-0" : String(checked("float8", element, index)),
  timestamptz: (element, index) => timestampText(checked("timestamptz", element, index)),
  uuid: (element, index) => checked("uuid", element, index)
}

interface ElementTypes {
  bool: boolean
  bytea: Uint8Array
  float8: number
  int4: number
  int8: number | bigint
  text: string
  timestamptz: number
  uuid: string
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i

/** 4713 BC to 294276 AD: the range of both Postgres and `Date`. */
const firstMs = -210_866_803_200_000
const lastMs = 8.64e15

const checks: { readonly [T in PgArrayType]: (element: unknown) => boolean } = {
  bool: (element) => typeof element === "boolean",
  bytea: (element) => element instanceof Uint8Array,
  float8: (element) => typeof element === "number",
  int4: (element) => typeof element === "number" && Number.isInteger(element) && element === (element | 0),
  int8: (element) =>
    typeof element === "bigint" ? element <= int64Max && element >= int64Min : Number.isSafeInteger(element),
  text: (element) => typeof element === "string",
  timestamptz: (element) =>
    typeof element === "number" && (element === Infinity || element === -Infinity || (element >= firstMs && element <= lastMs)),
  uuid: (element) => typeof element === "string" && uuidPattern.test(element)
}

const checked = <T extends PgArrayType>(type: T, element: unknown, index: number): ElementTypes[T] => {
  if (checks[type](element)) return element as ElementTypes[T]
  throw new TypeError(`Element ${index} of a ${type}[] parameter is not a ${type}.`)
}

/** The value of a hexadecimal digit by its character code; -1 of other characters. */
const digits = Int8Array.from({ length: 128 }, (_, code) => {
  const digit = Number.parseInt(String.fromCharCode(code), 16)
  return Number.isNaN(digit) ? -1 : digit
})

/** Returns whether it is a UUID. Deliveries are written by the thousand, and this takes a fifth of a pattern and a conversion. */
const writeUuid = (into: Buffer, text: string, start: number): boolean => {
  if (text.length !== 36) return false
  let at = start
  let sign = 0
  for (let place = 0; place < 36; place++) {
    if (place === 8 || place === 13 || place === 18 || place === 23) {
      if (text.charCodeAt(place) !== 0x2d) return false
      continue
    }
    const high = digits[text.charCodeAt(place)] ?? -1
    const low = digits[text.charCodeAt(++place)] ?? -1
    sign |= high | low
    into[at++] = high << 4 | low
  }
  return sign >= 0
}

const writeInt8 = (into: Buffer, value: number | bigint, at: number): void => {
  if (typeof value === "bigint") {
    into.writeBigInt64BE(value, at)
    return
  }
  into.writeInt32BE(Math.floor(value / 2 ** 32), at)
  into.writeUInt32BE(value >>> 0, at + 4)
}

const writeTimestamp = (into: Buffer, ms: number, at: number): void => {
  if (ms === Infinity) return writeInt8(into, int64Max, at)
  if (ms === -Infinity) return writeInt8(into, int64Min, at)
  const sinceOffset = Math.round(ms) - epochOffsetMs
  const micros = sinceOffset * 1000
  writeInt8(into, Number.isSafeInteger(micros) ? micros : BigInt(sinceOffset) * 1000n, at)
}

export const timestampText = (ms: number): string => {
  if (!Number.isFinite(ms)) return ms > 0 ? "infinity" : "-infinity"
  const [date, time, era] = textsOf(Math.round(ms))
  return `${date}T${time}+00${era}`
}

/** A single time. One that is out of range fails the statement when it is sent, like an element of an array. */
export const timestampParameter = (ms: number): string | PgArray => checks.timestamptz(ms) ? timestampText(ms) : new PgArray("timestamptz", [ms])

/** An element of an array literal. */
export const quote = (text: string): string => `"${text.replace(/[\\"]/g, "\\$&")}"`
