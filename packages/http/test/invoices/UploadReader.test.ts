import { SeededRandom } from "@waybill/conformance/fixtures"
import { assert, describe, it } from "@effect/vitest"
import { maxDepth } from "@waybill/core"
import { maxFileBytes } from "@waybill/core/invoices"
import { Bytes, Effect, Schema } from "effect"
import { maxRecordBytes, type UploadPart, UploadReader } from "../../src/invoices/UploadReader.ts"

const encoder = new TextEncoder()
const decoder = new TextDecoder()

interface ReadUpload {
  readonly files: ReadonlyArray<{ readonly path: string; readonly bytes: Uint8Array; readonly ended: boolean }>
  readonly rest: string
  readonly refused: (UploadPart & { readonly _tag: "Refused" }) | undefined
}

/** Reads chunks as a server does, and records the parts. */
const read = (chunks: Iterable<Uint8Array>): ReadUpload => {
  const reader = new UploadReader()
  const files: Array<{ path: string; chunks: Array<Uint8Array>; ended: boolean }> = []
  for (const chunk of chunks) {
    // A server may reuse its read buffer.
    const reused = Uint8Array.from(chunk)
    for (const part of reader.push(reused)) {
      if (part._tag === "Refused") return { files: files.map(whole), rest: "", refused: part }
      if (part._tag === "FileBegins") files.push({ path: part.path.join("/"), chunks: [], ended: false })
      else if (part._tag === "FileEnds") files.at(-1)!.ended = true
      else files.at(-1)!.chunks.push(Uint8Array.from(part.bytes))
    }
    reused.fill(0x22)
  }
  return { files: files.map(whole), rest: decoder.decode(reader.rest), refused: undefined }
}

const whole = ({ ended, path, chunks }: { readonly path: string; readonly chunks: ReadonlyArray<Uint8Array>; readonly ended: boolean }) => ({
  path,
  ended,
  bytes: Bytes.concat([...chunks])
})

const readText = (text: string) => read([encoder.encode(text)])

const Seed = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 65_535 }))

/** The same text with some characters escaped. */
const escaped = (random: SeededRandom, text: string, often: number): string =>
  [...text].map((character) => random.below(often) > 0 ? character : character === "/" && random.below(2) === 0 ? "\\/" : `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")

const oddTexts = ["", "documents", "files", "\"", "\\", "{[\"", "😀", "a,b:c", "]}", "documents[0].files"]

const member = (random: SeededRandom, name: string, value: string) => `"${escaped(random, name, 8)}"${random.pick(["", " ", "\n"])}:${random.pick(["", "\t "])}${value}`

const anything = (random: SeededRandom, depth = 0): string => {
  const kind = depth > 3 ? random.below(3) : random.below(6)
  if (kind < 2) return JSON.stringify(random.pick(oddTexts))
  if (kind < 3) return random.pick(["null", "true", "-1.5e3", "0"])
  if (kind < 4) return `[${Array.from({ length: random.below(3) }, () => anything(random, depth + 1)).join(",")}]`
  return `{${Array.from({ length: random.below(4) }, () => member(random, random.pick(["documents", "files", "x", "a]b"]), anything(random, depth + 1))).join(",")}}`
}

/** JSON of an upload in random order and format, and its files. */
const uploadOf = (random: SeededRandom) => {
  const files: Array<Uint8Array> = []
  const document = () => {
    const own = Array.from({ length: 1 + random.below(3) }, () => Uint8Array.from({ length: random.below(200) }, () => random.below(256)))
    files.push(...own)
    const texts = own.map((file) => {
      const base64 = Buffer.from(file).toString("base64")
      const padded = random.below(3) > 0 ? base64 : base64.replace(/=+$/, "")
      return `"${escaped(random, padded, random.pick([4, 40, 4000]))}"`
    })
    const noise = Array.from({ length: random.below(3) }, (_, n) => member(random, `more${n}`, anything(random)))
    return `{${random.shuffle([member(random, "documentType", "\"POD\""), member(random, "files", `[${texts.join(random.pick([",", " , "]))}]`), ...noise]).join(",")}}`
  }
  const documents = Array.from({ length: 1 + random.below(3) }, document)
  const noise = Array.from({ length: random.below(4) }, (_, n) => member(random, `odd${n}`, anything(random)))
  return { text: `${random.pick(["", "\ufeff", "\r\n"])}{${random.shuffle([member(random, "documents", `[${documents.join(",")}]`), ...noise]).join(",")}}`, files }
}

const cut = (random: SeededRandom, bytes: Uint8Array): ReadonlyArray<Uint8Array> => {
  const largest = random.pick([1, 3, 17, 500])
  const chunks: Array<Uint8Array> = []
  for (let from = 0; from < bytes.length;) {
    const to = Math.min(bytes.length, from + random.below(largest + 1))
    chunks.push(bytes.subarray(from, to))
    from = to
  }
  return chunks
}

/** The result of `JSON.parse` with each file replaced by its number. */
const numbered = (value: any): unknown => {
  let number = 0
  for (const document of value.documents) document.files = document.files.map(() => String(number++))
  return value
}

const parsed = (text: string): unknown => JSON.parse(text.replace(/^\ufeff/, ""))

describe("UploadReader", () => {
  it.effect.prop(
    "yields every file unchanged, wherever the bytes are split, and leaves the rest as JSON",
    [Seed],
    ([seed]) =>
      Effect.sync(() => {
        const random = new SeededRandom(seed)
        const { files, text } = uploadOf(random)
        const actual = read(cut(random, encoder.encode(text)))
        assert.isUndefined(actual.refused, text)
        assert.deepStrictEqual(actual.files.map(({ bytes, ended }) => [Buffer.from(bytes).toString("hex"), ended]), files.map((file) => [Buffer.from(file).toString("hex"), true]))
        assert.deepStrictEqual(parsed(actual.rest), numbered(parsed(text)))
      }),
    { arbitrary: { runs: 500 } }
  )

  it.effect.prop(
    "yields the same for the same bytes however they are split, invalid input included",
    [Seed],
    ([seed]) =>
      Effect.sync(() => {
        const random = new SeededRandom(seed)
        const bytes = encoder.encode(uploadOf(random).text)
        for (let n = random.below(4); n >= 0; n--) bytes[random.below(bytes.length)] = random.pick([0x22, 0x5c, 0x7b, 0x5d, 0x2c, 0x00, 0xff, 0x0a, 0x75])
        const [one, other] = [read([bytes]), read(cut(random, bytes))]
        // When a text has two faults, either may be detected first.
        assert.strictEqual(other.refused === undefined, one.refused === undefined)
        if (one.refused !== undefined) return
        assert.strictEqual(other.rest, one.rest)
        assert.deepStrictEqual(other.files, one.files)
        // Accepted input is valid JSON exactly if its rest is.
        const isJson = (json: string) => {
          try {
            parsed(json)
            return true
          } catch {
            return false
          }
        }
        assert.strictEqual(isJson(one.rest), isJson(decoder.decode(bytes)))
      }),
    { arbitrary: { runs: 1000 } }
  )

  it("takes only the strings at documents[*].files[*] for files", () => {
    const text = JSON.stringify({
      files: ["AAAA"],
      documents: [{ files: ["QUJD", ["AAAA"], { files: ["AAAA"] }, 5, null], documentType: "POD", more: { files: ["AAAA"] } }, ["AAAA"], "AAAA", { files: "AAAA" }, { files: { 0: "AAAA" } }],
      more: { documents: [{ files: ["AAAA"] }] }
    })
    const { files, refused, rest } = readText(text)
    assert.isUndefined(refused)
    assert.deepStrictEqual(files.map(({ bytes, path }) => [path, decoder.decode(bytes)]), [["documents/0/files/0", "ABC"]])
    assert.strictEqual(rest, text.replace("QUJD", "0"))
    for (const other of ["[{\"documents\":[{\"files\":[\"!\"]}]}]", "{\"documents\":{\"0\":{\"files\":[\"!\"]}}}", "[[[[\"!\"]]]]", "{\"documents\":[{\"Files\":[\"!\"]}]}", "\"!\""]) {
      assert.deepStrictEqual(readText(other), { files: [], rest: other, refused: undefined })
    }
  })

  it("reports the location of a file", () => {
    const { files } = readText("{\"documents\":[{\"files\":[]},{\"files\":[\"AAAA\",null,\"AAAA\"]}],\"documents\":[{\"files\":[\"AAAA\"]}]}")
    assert.deepStrictEqual(files.map(({ path }) => path), ["documents/1/files/0", "documents/1/files/2", "documents/0/files/0"])
  })

  const file = (text: string) => `{"documents":[{"files":["${text}`

  for (
    const [what, text, why] of [
      ["another alphabet", file("QUJ-\""), "notBase64"],
      ["a data: prefix", file("data:application/pdf;base64,QUJD\""), "notBase64"],
      ["one character too few", file("QUJDR\""), "notBase64"],
      ["padding in the middle", file("QQ==QQ==\""), "notBase64"],
      ["what is no ASCII", file("QUJDé\""), "notBase64"],
      ["the same as an escape", file("QUJD\\u00e9\""), "notBase64"],
      ["a quote", file("QUJD\\\"\""), "notBase64"],
      ["a line break that JSON has not", file("QUJD\nQUJD\""), "notJson"],
      ["an escape that JSON has not", file("QUJD\\x41\""), "notJson"],
      ["half an escape", file("QUJD\\u00\""), "notJson"],
      ["NUL", file("QUJD\u0000\""), "notJson"]
    ] as const
  ) {
    it(`refuses a file with ${what}`, () => {
      for (const chunks of [[encoder.encode(text)], [...encoder.encode(text)].map((byte) => Uint8Array.of(byte))]) {
        assert.deepStrictEqual(read(chunks).refused, { _tag: "Refused", why, path: ["documents", 0, "files", 0] })
      }
    })
  }

  it("accepts the line breaks of mail, escaped in JSON", () => {
    assert.strictEqual(decoder.decode(readText(`${file("QUJD\\r\\nREVG")}"]}]}`).files[0]!.bytes), "ABCDEF")
  })

  it("stops at the depth limit and at the record limit, and buffers no more than that", () => {
    const deep = (depth: number) => readText("[".repeat(depth)).refused?.why
    assert.deepStrictEqual([deep(maxDepth), deep(maxDepth + 1), readText("{\"a\":".repeat(50_000)).refused?.why], [undefined, "tooDeep", "tooDeep"])
    const blank = new Uint8Array(65_536).fill(0x20)
    for (const begin of ["", "{\"a\":\"", "{\""]) {
      const reader = new UploadReader()
      reader.push(encoder.encode(begin))
      let pushed = 0
      while (reader.push(blank).length === 0) pushed += blank.length
      assert.isAtMost(pushed, maxRecordBytes)
      assert.isAbove(pushed, maxRecordBytes - 2 * blank.length)
    }
  })

  it("yields a file as it arrives, and limits whitespace in place of one", () => {
    const reader = new UploadReader()
    const chunk = encoder.encode("A".repeat(65_536))
    reader.push(encoder.encode(file("")))
    let held = 0
    for (let n = 0; n < 100; n++) {
      const parts = reader.push(chunk)
      for (const part of parts) held = Math.max(held, part._tag === "FileBytes" ? part.bytes.buffer.byteLength : 0)
      assert.deepStrictEqual(parts.map(({ _tag }) => _tag), ["FileBytes"])
    }
    assert.isAtMost(held, 65_536)
    assert.isAtMost(reader.rest.buffer.byteLength, 1024)

    const blanks = encoder.encode("\\n".repeat(32_768))
    let pushed = 0
    let last = reader.push(blanks)
    for (; last.length === 0; last = reader.push(blanks)) pushed += 32_768
    assert.deepStrictEqual([last[0]!._tag === "Refused" && last[0]!.why, pushed < 2 * maxFileBytes], ["tooLarge", true])
  })
})
