import { assert, describe, it } from "@effect/vitest"
import { fileFormats, formatOf } from "@waybill/core/invoices"
import { int, listOf } from "../../arbitraries.ts"

const magics = fileFormats.flatMap(({ magic, name }) => magic.map((bytes) => ({ name, bytes })))

describe("formatOf", () => {
  it("detects PDF, TIF in both byte orders, JPEG and PNG", () => {
    assert.deepStrictEqual(magics.map(({ bytes }) => {
      const detected = formatOf(Uint8Array.from([...bytes, 1, 2, 3]))
      return typeof detected === "object" && `${detected.name} ${detected.mediaType}`
    }), ["PDF application/pdf", "TIF image/tiff", "TIF image/tiff", "JPEG image/jpeg", "PNG image/png"])
  })

  it("is undecided while more bytes are needed", () => {
    for (const { bytes, name } of magics) {
      for (let length = 0; length < bytes.length; length++) {
        assert.strictEqual(formatOf(Uint8Array.from(bytes.slice(0, length))), "undecided", `${name} ${length}`)
      }
    }
  })

  it.prop("does not change its result with more bytes", [listOf(int(0, 255), 0, 12), int(0, magics.length - 1), int(0, 12)], ([random, which, kept]) => {
    const bytes = Uint8Array.from([...magics[which]!.bytes.slice(0, kept), ...random])
    const detected = Array.from({ length: bytes.length + 1 }, (_, length) => formatOf(bytes.subarray(0, length)))
    const decided = detected.findIndex((each) => each !== "undecided")
    if (decided >= 0) assert.deepStrictEqual(new Set(detected.slice(decided)).size, 1)
  })

  it("does not detect archives, web pages, scripts, other images, or a PDF after other bytes", () => {
    for (const text of ["PK\u0003\u0004", "<html>", "GIF89a", "#!/bin/sh", "\n%PDF-1.7", "{\"a\":1}", "JVBERi0xLjc="]) {
      assert.isUndefined(formatOf(new TextEncoder().encode(text)), text)
    }
  })
})
