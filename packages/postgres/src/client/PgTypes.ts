/** Decodes Postgres values to JavaScript values, from both wire formats. */

/**
 * The columns that a bulk statement can return, and their JavaScript values:
 *
 * | column | value |
 * |---|---|
 * | `bool` | boolean |
 * | `int2`, `int4`, `int8`, `oid`, `float4`, `float8` | number; an `int8` beyond 2^53 fails the statement |
 * | `text`, `varchar`, `bpchar`, `name`, `uuid`, `xid8`, `date` | string |
 * | `json`, `jsonb` | string: the JSON text, not parsed |
 * | `bytea` | Buffer |
 * | `timestamptz` | number: whole milliseconds since 1970, rounded down; infinity is infinite |
 * | `void` | null |
 *
 * and arrays of one dimension of these, with null elements.
 */
export type ColumnType =
  | "bool" | "bytea" | "date" | "float4" | "float8" | "int2" | "int4" | "int8" | "json" | "jsonb" | "name" | "oid"
  | "bpchar" | "text" | "timestamptz" | "uuid" | "varchar" | "void" | "xid8"

/** A column, or an array of it, as `int8[]`. */
export type ColumnHint = ColumnType | `${ColumnType}[]`

interface Column {
  readonly oid: number
  readonly arrayOid?: number
  readonly binary: BinaryDecoder
  readonly text: (text: string) => unknown
}

/** Decodes the `size` bytes at `at`. */
export type BinaryDecoder = (bytes: Uint8Array, at: number, size: number) => unknown

const same = (text: string): string => text

const bufferOf = (bytes: Uint8Array, at: number, size: number): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset + at, size)

/** A text by its own small object costs more than its characters. */
const utf8: BinaryDecoder = (bytes, at, size) =>
  bytes instanceof Buffer ? bytes.toString("utf8", at, at + size) : bufferOf(bytes, at, size).toString("utf8")

/** A copy, because a view would keep the whole message in memory; unless it is most of the message, which is then in a buffer of its own. */
const bytesOfMessage: BinaryDecoder = (bytes, at, size) => {
  const view = bufferOf(bytes, at, size)
  return 2 * size > bytes.length ? view : Buffer.from(view)
}

export const int32 = (bytes: Uint8Array, at: number): number =>
  (bytes[at]! << 24) | (bytes[at + 1]! << 16) | (bytes[at + 2]! << 8) | bytes[at + 3]!

const uint32 = (bytes: Uint8Array, at: number): number => int32(bytes, at) >>> 0

export const columns: Record<ColumnType, Column> = {
  bool: { oid: 16, arrayOid: 1000, binary: (bytes, at) => bytes[at] === 1, text: (text) => text === "t" || text === "true" },
  bytea: { oid: 17, arrayOid: 1001, binary: bytesOfMessage, text: (text) => bytesOfText(text) },
  name: { oid: 19, arrayOid: 1003, binary: utf8, text: same },
  int8: { oid: 20, arrayOid: 1016, binary: (bytes, at) => int8OfBytes(bytes, at), text: (text) => safe(text) },
  int2: { oid: 21, arrayOid: 1005, binary: (bytes, at) => bufferOf(bytes, at, 2).readInt16BE(0), text: Number },
  int4: { oid: 23, arrayOid: 1007, binary: int32, text: Number },
  text: { oid: 25, arrayOid: 1009, binary: utf8, text: same },
  oid: { oid: 26, arrayOid: 1028, binary: uint32, text: Number },
  json: { oid: 114, arrayOid: 199, binary: utf8, text: same },
  float4: { oid: 700, arrayOid: 1021, binary: (bytes, at) => bufferOf(bytes, at, 4).readFloatBE(0), text: Number },
  float8: { oid: 701, arrayOid: 1022, binary: (bytes, at) => bufferOf(bytes, at, 8).readDoubleBE(0), text: Number },
  bpchar: { oid: 1042, arrayOid: 1014, binary: utf8, text: same },
  varchar: { oid: 1043, arrayOid: 1015, binary: utf8, text: same },
  date: { oid: 1082, arrayOid: 1182, binary: (bytes, at) => dayOfBinary(int32(bytes, at)), text: same },
  timestamptz: {
    oid: 1184,
    arrayOid: 1185,
    binary: (bytes, at) => timestampOfBytes(bytes, at),
    text: (text) => millisecondsOfText(text)
  },
  void: { oid: 2278, binary: () => null, text: () => null },
  uuid: { oid: 2950, arrayOid: 2951, binary: (bytes, at) => uuidOfBytes(bytes, at), text: same },
  // the first byte is the version of the format
  jsonb: { oid: 3802, arrayOid: 3807, binary: (bytes, at, size) => utf8(bytes, at + 1, size - 1), text: same },
  xid8: { oid: 5069, arrayOid: 271, binary: (bytes, at) => bufferOf(bytes, at, 8).readBigUInt64BE(0).toString(), text: same }
}

type Parser = (raw: any) => unknown

/** Which column, or array of a column, has an oid. */
export const hints: ReadonlyMap<number, ColumnHint> = new Map(
  Object.entries(columns).flatMap(([type, { arrayOid, oid }]): ReadonlyArray<[number, ColumnHint]> => {
    const scalar: [number, ColumnHint] = [oid, type as ColumnHint]
    return arrayOid === undefined ? [scalar] : [scalar, [arrayOid, `${type}[]` as ColumnHint]]
  })
)

/** pg's `types` option: the parsers of result columns, which arrive as text. */
export interface ResultTypes {
  readonly getTypeParser: (oid: number) => Parser
}

/**
 * Decodes the rows of bulk statements: see {@link ColumnType}. A column of another type fails the statement when a row
 * arrives; cast it in the statement.
 *
 * @stability unstable
 */
export const bulkTypes: ResultTypes = {
  getTypeParser: (oid) => bulkParsers.get(oid) ?? unsupported(oid)
}

/**
 * Decodes the rows of ordinary statements as pg does, with three exceptions: `int8` is a number, `date` and `timestamp`
 * stay text, and parsers that the host application registered with pg are ignored. `timestamptz` is a `Date`,
 * `json` is parsed, `numeric` is text.
 *
 * @stability unstable
 */
export const rowTypes: ResultTypes = {
  getTypeParser: (oid) => rowParsers.get(oid) ?? same
}

/** The text parser of a column by its hint, for executors that do not report column types. */
export const hintedParser = (hint: ColumnHint, others: Partial<Record<ColumnType, Parser>> = {}): Parser => {
  const type = hint.replace("[]", "") as ColumnType
  const parse = others[type] ?? columns[type].text
  return hint === type ? parse : (literal) => arrayOfText(literal, parse)
}

const parsersOf = (others: Partial<Record<ColumnType, Parser>>): ReadonlyMap<number, Parser> =>
  new Map(Array.from(hints, ([oid, hint]) => [oid, hintedParser(hint, others)]))

const bulkParsers = parsersOf({})
const rowParsers = parsersOf({ json: JSON.parse, jsonb: JSON.parse, timestamptz: (text) => new Date(millisecondsOfText(text)) })

export const unsupported = (oid: number): Parser => () => {
  throw new Error(`A bulk result cannot carry a column of type oid ${oid}. Cast it in the statement, to text for example.`)
}

/** Decodes an array of one dimension. */
export const arrayOfBytes = (bytes: Uint8Array, at: number, decode: BinaryDecoder): ReadonlyArray<unknown> => {
  const dimensions = int32(bytes, at)
  if (dimensions === 0) return []
  if (dimensions > 1) throw new Error("Arrays of more than one dimension are not decoded. Unnest it in the statement.")
  const values = new Array<unknown>(int32(bytes, at + 12))
  let offset = at + 20
  for (let index = 0; index < values.length; index++) {
    const size = int32(bytes, offset)
    offset += 4
    values[index] = size === -1 ? null : decode(bytes, offset, size)
    if (size > 0) offset += size
  }
  return values
}

/** Parses `{a,"b\\"c",NULL}`, optionally with bounds: `[0:2]={…}`. */
const arrayOfText = (text: string, decode: Parser): ReadonlyArray<unknown> => {
  const values: Array<unknown> = []
  const start = text.indexOf("{") + 1
  if (text[start] === "{") throw new Error("Arrays of more than one dimension are not decoded. Unnest it in the statement.")
  for (const [, quoted, plain] of text.slice(start).matchAll(/"((?:[^"\\]|\\.)*)"|([^,{}"]+)/gs)) {
    if (quoted !== undefined) values.push(decode(quoted.replace(/\\(.)/gs, "$1")))
    else values.push(plain === "NULL" ? null : decode(plain))
  }
  return values
}

/** The high half of an int8 up to which every value is a safe integer. */
const safeHigh = 2 ** 21

const int8OfBytes = (bytes: Uint8Array, at: number): number => {
  const high = int32(bytes, at)
  return high < safeHigh && high > -safeHigh
    ? high * 2 ** 32 + uint32(bytes, at + 4)
    : safe(bufferOf(bytes, at, 8).readBigInt64BE(0))
}

const safe = (value: bigint | string): number => {
  const number = Number(value)
  if (Number.isSafeInteger(number)) return number
  throw new RangeError(`The int8 ${value} does not fit a JavaScript number. Cast it to text in the statement.`)
}

/** In the format of `bytea_output`, which the host may have set to `escape`. */
const bytesOfText = (text: string): Buffer =>
  text.startsWith("\\x")
    ? Buffer.from(text.slice(2), "hex")
    : Buffer.from(text.replaceAll(/\\(\\|[0-7]{3})/g, (_, code: string) => code === "\\" ? code : String.fromCharCode(parseInt(code, 8))), "latin1")

const digitCodes = Buffer.from("0123456789abcdef")
const uuidCodes = Buffer.from("00000000-0000-0000-0000-000000000000")

const uuidOfBytes = (bytes: Uint8Array, at: number): string => {
  for (let index = 0, place = 0; index < 16; index++) {
    if (index === 4 || index === 6 || index === 8 || index === 10) place++
    const byte = bytes[at + index]!
    uuidCodes[place++] = digitCodes[byte >> 4]!
    uuidCodes[place++] = digitCodes[byte & 15]!
  }
  return uuidCodes.toString("latin1")
}

/** Postgres counts from 2000-01-01. */
export const epochOffsetMs = 946_684_800_000

export const int64Max = 2n ** 63n - 1n
export const int64Min = -(2n ** 63n)

const timestampOfBytes = (bytes: Uint8Array, at: number): number => {
  const high = int32(bytes, at)
  if (high < safeHigh && high > -safeHigh) {
    return Math.floor((high * 2 ** 32 + uint32(bytes, at + 4)) / 1000) + epochOffsetMs
  }
  const micros = bufferOf(bytes, at, 8).readBigInt64BE(0)
  if (micros === int64Max) return Infinity
  if (micros === int64Min) return -Infinity
  const down = ((micros % 1000n) + 1000n) % 1000n
  return Number((micros - down) / 1000n) + epochOffsetMs
}

/** A `timestamp` as Postgres writes it, without a time zone. */
export const timestampTextOfBytes: BinaryDecoder = (bytes, at) => {
  const micros = bufferOf(bytes, at, 8).readBigInt64BE(0)
  if (micros === int64Max) return "infinity"
  if (micros === int64Min) return "-infinity"
  const fraction = Number(((micros % 1_000_000n) + 1_000_000n) % 1_000_000n)
  const ms = Number((micros - BigInt(fraction)) / 1000n) + epochOffsetMs
  const [date, time, era] = textsOf(ms)
  const digits = fraction === 0 ? "" : `.${String(fraction).padStart(6, "0").replace(/0+$/, "")}`
  return `${date} ${time.slice(0, 8)}${digits}${era}`
}

const dayOfBinary = (days: number): string => {
  if (days === 2 ** 31 - 1) return "infinity"
  if (days === -(2 ** 31)) return "-infinity"
  const [date, , era] = textsOf(epochOffsetMs + days * 86_400_000)
  return date + era
}

/** The date, the time and the era of a time as Postgres writes them: no sign, at least four digits of year, `BC` at the end. */
export const textsOf = (ms: number): readonly [date: string, time: string, era: string] => {
  const [, sign, year = "", day = "", time = ""] = /^([+-]?)(\d+)(-\d\d-\d\d)T(.*)Z$/.exec(new Date(ms).toISOString()) ?? []
  // year 0 is 1 BC
  const beforeChrist = sign === "-" || Number(year) === 0
  const shown = beforeChrist ? Number(year) + 1 : Number(year)
  return [`${String(shown).padStart(4, "0")}${day}`, time, beforeChrist ? " BC" : ""]
}

const timestampPattern =
  /^(\d{4,})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:\.(\d{1,6})\d*)?(?:Z|([+-])(\d\d)(?::?(\d\d))?(?::?(\d\d))?)( BC)?$/

export const notIso = "Not a timestamp in ISO form"

export const unreadableTime = "The driver of a host returned a timestamptz neither as a Date nor as text."

const millisecondsOfText = (text: string): number => {
  if (text === "infinity") return Infinity
  if (text === "-infinity") return -Infinity
  const match = timestampPattern.exec(text)
  if (match === null) throw new Error(`${notIso}: ${text}. Set DateStyle to ISO.`)
  const [, year, month, day, hour, minute, second, fraction = "", sign, zoneHour = 0, zoneMinute = 0, zoneSecond = 0, bc] = match
  const zoneMs = (Number(zoneHour) * 3600 + Number(zoneMinute) * 60 + Number(zoneSecond)) * 1000
  const date = new Date(0)
  date.setUTCFullYear(bc === undefined ? Number(year) : 1 - Number(year), Number(month) - 1, Number(day))
  date.setUTCHours(Number(hour), Number(minute), Number(second), Number(fraction.padEnd(6, "0").slice(0, 3)))
  return date.getTime() - (sign === "-" ? -zoneMs : zoneMs)
}
