import { assert, describe, it } from "@effect/vitest"
import { pdf } from "../../src/demo/DemoPdf.ts"

const text = (bytes: Uint8Array) => Buffer.from(bytes).toString("latin1")

describe("the demo's PDF", () => {
  it("is a PDF with a valid object table", () => {
    const file = text(pdf("Proof of delivery", ["To: Trinity Hardware", "Signed: J. Doe"]))
    assert.match(file, /^%PDF-1\.4\n/)
    assert.match(file, /%%EOF\n$/)
    const table = Number(/startxref\n(\d+)\n/.exec(file)![1])
    assert.strictEqual(file.slice(table, table + 9), "xref\n0 6\n")
    const places = [...file.slice(table).matchAll(/^(\d{10}) 00000 n $/gm)].map((match) => Number(match[1]))
    assert.lengthOf(places, 5)
    for (const [index, place] of places.entries()) assert.strictEqual(file.slice(place, place + 8), `${index + 1} 0 obj\n`)
    const { 1: length, 2: content } = /\/Length (\d+) >>\nstream\n([^]*)\nendstream/.exec(file)!
    assert.strictEqual(content!.length, Number(length))
    assert.include(content, "(Signed: J. Doe) Tj")
  })

  it("escapes the special characters of PDF", () => assert.include(text(pdf("A (b) \\ c", [])), "(A \\(b\\) \\\\ c) Tj"))
})
