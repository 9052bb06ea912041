import { forRandom, type SeededRandom } from "@waybill/conformance/fixtures"
import { describe, expect, it } from "vitest"
import { type DocumentPart, DocumentsReader } from "../../src/invoices/DocumentsReader.ts"
import { storedDocuments, wireOf } from "../invoice-samples.ts"
import { bytesOf } from "../samples.ts"

/** All parts that the reader yields: heads, contents and records, in order. */
const read = (list: boolean, chunks: Iterable<Uint8Array>) => {
  const reader = new DocumentsReader(list)
  const seen: Array<unknown> = []
  let pieces: Array<Uint8Array> = []
  const take = (part: DocumentPart) => {
    if (part._tag === "FileBegins") seen.push(part.head)
    else if (part._tag === "FileBytes") pieces.push(part.bytes)
    else if (part._tag === "FileEnds") {
      seen.push(Buffer.concat(pieces).toString("hex"))
      pieces = []
    } else seen.push(part.json)
  }
  for (const chunk of chunks) for (const part of reader.push(chunk)) take(part)
  reader.end()
  return seen
}
const one = (json: unknown, list = false) => read(list, [bytesOf(json)])
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex")
const cut = function*(random: SeededRandom, whole: Uint8Array, most: number) {
  for (let at = 0; at < whole.length;) yield whole.subarray(at, at += 1 + random.below(most))
}

const head = { invoiceNumber: "N/1", DOT: "123456", MC: "654321" }
const [pod, weighed] = storedDocuments.documents as [typeof storedDocuments.documents[number], typeof storedDocuments.documents[number]]
const numbered = {
  ...storedDocuments,
  documents: [
    { documentType: "POD", files: [{ id: "f-1", content: "0" }, { id: "f-2", content: "1" }] },
    { documentType: "W&I", files: [{ id: "f-3", content: "2" }] }
  ]
}
const expected = [
  { ...head, id: "f-1", documentType: "POD" }, hex(pod.files[0]!.content),
  { ...head, id: "f-2", documentType: "POD" }, hex(pod.files[1]!.content),
  { ...head, id: "f-3", documentType: "W&I" }, hex(weighed.files[0]!.content),
  numbered
]
const wire = wireOf(storedDocuments)
const nothing = { id: undefined, documentType: undefined, invoiceNumber: undefined, DOT: undefined, MC: undefined }
const inPlace = (file: string) => `{"documents":[{"files":[${file}]}]}`

describe("DocumentsReader", () => {
  it("yields contents, and the record with a number in place of each", () => {
    expect(one(wire)).toEqual(expected)
    expect(one([wire, wire], true)).toEqual([...expected, ...expected])
    expect(one([], true)).toEqual([])
  })

  it("does so wherever the bytes are split and however the JSON is formatted", () => forRandom(60, (random) => {
    const text = JSON.stringify([wire, wire], undefined, random.pick([0, 1, "\t"]))
    expect(read(true, cut(random, bytesOf(text), random.pick([1, 7, 100_000])))).toEqual([...expected, ...expected])
  }))

  it("yields a content in small chunks, however large the input chunks are", () => {
    const content = new Uint8Array(1_000_000).fill(7)
    const reader = new DocumentsReader(false)
    const bytes = bytesOf(inPlace(`{"content":"${Buffer.from(content).toString("base64")}"}`))
    const lengths = [...reader.push(bytes)].flatMap((part) => part._tag === "FileBytes" ? [part.bytes.length] : [])
    expect(Math.max(...lengths)).toBeLessThanOrEqual(64 * 1024)
    expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(content.length)
  })

  it("takes nothing else for a content, whatever its name or position", () => {
    const json = {
      content: "YQ==",
      documents: [{ content: "YQ==", files: [{ id: "content", meta: { content: "YQ==" }, list: [{ content: "YQ==" }], content: 5 }, "content", ["YQ=="]] }],
      other: [{ files: [{ content: "YQ==" }] }],
      comments: [{ commentText: "\\\"documents\":[{\"files\":[{\"content\":\"" }],
      files: [{ files: [{ content: "YQ==" }] }]
    }
    expect(one(json)).toEqual([json])
    expect(one({ documents: { files: [{ content: "YQ==" }] } })).toEqual([{ documents: { files: [{ content: "YQ==" }] } }])
    expect(one({ documents: [[{ files: [{ content: "YQ==" }] }]] })).toEqual([{ documents: [[{ files: [{ content: "YQ==" }] }]] }])
  })

  it("finds a content under an escaped name, and reads split escapes in it", () => forRandom(40, (random) => {
    // Base64 of 0xfb 0xff is +/8=
    const text = inPlace("{\"\\u0063ontent\":\"+\\/8\\u003d\\n\"}")
    expect(read(false, cut(random, bytesOf(text), 3))).toEqual([nothing, "fbff", { documents: [{ files: [{ content: "0" }] }] }])
  }))

  it("knows only the members of a head that came before the content", () => {
    const text = "{\"documents\":[{\"files\":[{\"content\":\"YQ==\",\"id\":\"f\"}],\"documentType\":\"POD\"}],\"invoiceNumber\":\"N\"}"
    expect(one(text)).toEqual([nothing, "61", { documents: [{ files: [{ content: "0", id: "f" }], documentType: "POD" }], invoiceNumber: "N" }])
  })

  it("keeps characters outside ASCII, wherever they are split", () => forRandom(40, (random) => {
    const json = { documentSource: "é😀\u2028", documents: [{ files: [{ id: "ü😀", content: "" }] }] }
    expect(read(false, cut(random, bytesOf(json), 2))).toEqual([{ ...nothing, id: "ü😀" }, "", { ...json, documents: [{ files: [{ id: "ü😀", content: "0" }] }] }])
  }))

  it.each([
    ["nothing", ""],
    ["half of it", "{\"documents\":[{\"files\":[{\"content\":\"YQ=="],
    ["half of its end", "{\"documents\":[]"],
    ["a list", "[]"],
    ["a text", "\"documents\""],
    ["a number", "5"],
    ["null", "null"],
    ["a web page", "<html>"],
    ["two records", "{}{}"],
    ["a record and more", "{} x"],
    ["a record that ends twice", "{}}"],
    ["no JSON", "{\"documents\": nothing}"],
    ["crossed brackets", "{\"documents\":[}]"],
    ["a text that is none", "{\"a\":\"\\x\"}"],
    ["no UTF-8", Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d)],
    ["no base64", inPlace("{\"content\":\"data:;base64,YQ==\"}")],
    ["base64 that is cut off", inPlace("{\"content\":\"Y\"}")],
    ["an escape that is none", inPlace("{\"content\":\"\\q\"}")],
    ["an escaped quote", inPlace("{\"content\":\"\\\"\"}")]
  ])("refuses %s in place of a record", (_, body) => {
    expect(() => read(false, [typeof body === "string" ? bytesOf(body) : body])).toThrow(expect.objectContaining({ name: "DocumentsMalformed" }))
  })

  it.each([["a record", "{}"], ["a list of numbers", "[1]"], ["a list of lists", "[[]]"], ["a list of texts", "[\"a\"]"], ["half of it", "[{}"]])(
    "refuses %s in place of a list",
    (_, body) => {
      expect(() => read(true, [bytesOf(body)])).toThrow(expect.objectContaining({ name: "DocumentsMalformed" }))
    }
  )

  it("terminates on any bytes, with a result or a refusal", () => forRandom(2000, (random) => {
    const parts = ["{", "}", "[", "]", ",", ":", "\"", "\\", "\"documents\":", "\"files\":", "\"content\":", "YQ==", "1", "\\u00", "\xff", " "]
    const text = Array.from({ length: random.below(40) }, () => random.pick(parts)).join("")
    try {
      read(random.share(0.5), cut(random, Buffer.from(text, "latin1"), 5))
    } catch (error) {
      expect(error).toMatchObject({ name: "DocumentsMalformed" })
    }
  }))
})
