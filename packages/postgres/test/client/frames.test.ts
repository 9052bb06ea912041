/** The bytes of a server, cut anywhere, are read as the package's parser reads them. */
import * as PgProtocol from "@effect/sql-pg/PgProtocol"
import { assert, describe, it } from "@effect/vitest"
import { FrameReader } from "../../src/client/PgFrames.ts"
import type { FieldReader, SessionMessage, SessionParser } from "../../src/client/SqlPgInternals.ts"

const largest = 100_000

const readField: FieldReader = (bytes, at, size, column) =>
  `${column}:${size < 0 ? "null" : Buffer.from(bytes.subarray(at, at + size)).toString("hex")}`

const message = (type: string, body: Uint8Array): Buffer => {
  const header = Buffer.alloc(5)
  header.write(type)
  header.writeInt32BE(4 + body.length, 1)
  return Buffer.concat([header, body])
}

const rowOf = (fields: ReadonlyArray<Uint8Array | null>): Buffer => {
  const parts = fields.map((field) => {
    const length = Buffer.alloc(4)
    length.writeInt32BE(field === null ? -1 : field.length)
    return Buffer.concat(field === null ? [length] : [length, field])
  })
  const count = Buffer.alloc(2)
  count.writeInt16BE(fields.length)
  return message("D", Buffer.concat([count, ...parts]))
}

const commandComplete = message("C", Buffer.from("SELECT 1\0"))
const readyForQuery = message("Z", Buffer.from("I"))
const bindComplete = message("2", Buffer.of())

const stream = [
  message("1", Buffer.of()),
  bindComplete,
  message("n", Buffer.of()),
  message("3", Buffer.of()),
  message("Z", Buffer.from("T")),
  message("Z", Buffer.from("E")),
  bindComplete,
  rowOf([]),
  rowOf([Buffer.of(1, 2, 3), null, Buffer.of()]),
  rowOf([Buffer.alloc(9000, 7), Buffer.from("D\0\0\0\u0005")]),
  commandComplete,
  readyForQuery,
  bindComplete,
  rowOf([null]),
  commandComplete,
  readyForQuery
]

const packageParser = (): SessionParser => Object.assign(PgProtocol.makeParser({ maxMessageSize: largest }) as unknown as SessionParser, { readField })

/** The messages of these chunks, or the text of the error after them. */
const read = (parser: SessionParser, chunks: Iterable<Uint8Array>): ReadonlyArray<unknown> => {
  const messages: Array<SessionMessage | string> = []
  try {
    for (const chunk of chunks) parser.pushEach(chunk, (each) => messages.push(each))
  } catch (error) {
    messages.push(String(error))
  }
  return messages
}

const reader = () => new FrameReader(packageParser(), largest)

function* cut(bytes: Uint8Array, size: number) {
  // a socket's chunks are buffers of their own
  for (let at = 0; at < bytes.length; at += size) yield Buffer.from(bytes.subarray(at, at + size))
}

const isError = (messages: ReadonlyArray<unknown>) => typeof messages.at(-1) === "string"

describe("FrameReader", () => {
  it("reads the same messages however the bytes are cut", () => {
    const bytes = Buffer.concat(stream)
    const expected = read(packageParser(), [bytes])
    assert.lengthOf(expected, stream.length)
    for (const size of [1, 2, 3, 4, 5, 6, 7, 11, 64, 1000, 4096, bytes.length]) assert.deepStrictEqual(read(reader(), cut(bytes, size)), expected, `${size}`)
  })

  it("refuses what the package's parser refuses", () => {
    const tooLong = message("D", Buffer.alloc(largest))
    const tooShort = Buffer.from([0x44, 0, 0, 0, 3])
    const negative = Buffer.from([0x44, 0xff, 0xff, 0xff, 0xff])
    const fieldTooLong = message("D", Buffer.from([0, 1, 0, 0, 0, 9, 1]))
    const fieldNegative = message("D", Buffer.from([0, 1, 0xff, 0xff, 0xff, 0xfe]))
    const trailing = message("D", Buffer.from([0, 0, 1]))
    const noCount = message("D", Buffer.of(0))
    const negativeCount = message("D", Buffer.of(0xff, 0xff))
    const noState = message("Z", Buffer.from("X"))
    const content = message("2", Buffer.of(1))
    for (const wrong of [noState, content, tooLong, tooShort, negative, fieldTooLong, fieldNegative, trailing, noCount, negativeCount]) {
      for (const size of [1, 3, 7, 200_000]) {
        const bytes = Buffer.concat([bindComplete, wrong])
        const expected = read(packageParser(), cut(bytes, size))
        assert.isTrue(isError(expected))
        assert.deepStrictEqual(read(reader(), cut(bytes, size)), expected)
      }
    }
  })

  it("leaves rows without a reader to the package's parser", () => {
    const bytes = Buffer.concat([rowOf([Buffer.of(5)]), readyForQuery])
    const parser = reader()
    parser.readField = undefined
    const [row] = read(parser, [bytes]) as ReadonlyArray<{ readonly values: ReadonlyArray<Uint8Array> }>
    assert.deepStrictEqual(Array.from(row!.values[0]!), [5])
  })
})
