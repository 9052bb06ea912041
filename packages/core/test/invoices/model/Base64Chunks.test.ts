import { assert, describe, it } from "@effect/vitest"
import { base64Decoder, base64Encoder } from "@waybill/core/invoices"
import { Bytes } from "effect"
import { int, listOf, oneOf } from "../../arbitraries.ts"

const bytesOf = (numbers: ReadonlyArray<number>) => Uint8Array.from(numbers)
const asciiOf = (text: string) => new TextEncoder().encode(text)

/** Splits bytes into chunks of these lengths, repeatedly. */
const cut = (bytes: Uint8Array, lengths: ReadonlyArray<number>): ReadonlyArray<Uint8Array> => {
  const chunks: Array<Uint8Array> = []
  for (let from = 0, n = 0; from < bytes.length; n++) {
    const length = Math.max(n % lengths.length === 0 ? 1 : 0, lengths[n % lengths.length]!)
    chunks.push(bytes.subarray(from, from + length))
    from += length
  }
  return chunks
}

/** The bytes, or `undefined` when the decoder refuses. */
const decoded = (chunks: ReadonlyArray<Uint8Array>): Uint8Array | undefined => {
  const decoder = base64Decoder()
  const parts = [...chunks.map((chunk) => decoder.push(chunk)), decoder.end()]
  return parts.every((part) => part !== undefined) ? Bytes.concat(parts) : undefined
}

const encoded = (chunks: ReadonlyArray<Uint8Array>): string => {
  const encoder = base64Encoder()
  return new TextDecoder().decode(Bytes.concat([...chunks.map((chunk) => encoder.push(chunk)), encoder.end()]))
}

const content = listOf(int(0, 255), 0, 200)
const lengths = listOf(int(0, 9), 1, 5)

describe("base64 in chunks", () => {
  it.prop("encodes chunks like one buffer", [content, lengths], ([numbers, cuts]) => {
    assert.strictEqual(encoded(cut(bytesOf(numbers), cuts)), Buffer.from(numbers).toString("base64"))
  })

  it.prop("decodes chunks of any length, with or without padding and line ends", [
    content,
    lengths,
    oneOf([true, false]),
    oneOf(["", "\r\n", "\n", " ", "\t"])
  ], ([numbers, cuts, padded, lineEnd]) => {
    const text = Buffer.from(numbers).toString("base64").replaceAll(/.{10}/gu, (line) => `${line}${lineEnd}`)
    const chunks = cut(asciiOf(padded ? text : text.replaceAll("=", "")), cuts)
    assert.deepStrictEqual(decoded(chunks), bytesOf(numbers))
  })

  it.prop("accepts or refuses input independently of the chunk lengths", [listOf(oneOf(["A", "B", "/", "=", "\n", "-", "_", ":"]), 0, 12), lengths], ([parts, cuts]) => {
    const text = parts.join("")
    const clean = text.replaceAll("\n", "")
    const unpadded = clean.replace(/=+$/u, "")
    const isWhole = /^[AB/]*$/u.test(unpadded) && unpadded.length % 4 !== 1 && (clean === unpadded || clean.length % 4 === 0) &&
      Buffer.from(unpadded, "base64").toString("base64").replaceAll("=", "") === unpadded && clean.length - unpadded.length <= 2
    assert.strictEqual(decoded(cut(asciiOf(text), cuts)) !== undefined, isWhole, text)
  })

  it("refuses invalid base64", () => {
    for (const bad of ["data:application/pdf;base64,AAAA", "AA-_", "A", "AAAAA", "AA=", "AA=A", "A===", "====", "AAAA====", "AB==", "AE==", "AAB=", "AA==AA==", "ä"]) {
      assert.isUndefined(decoded([asciiOf(bad)]), bad)
    }
  })
})
