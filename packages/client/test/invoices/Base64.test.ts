import { forRandom, type SeededRandom } from "@waybill/conformance/fixtures"
import { describe, expect, it } from "vitest"
import { base64Decoder, base64Encoder } from "../../src/invoices/Base64.ts"
import { bytesOf } from "../samples.ts"

const cut = (random: SeededRandom, whole: Uint8Array): ReadonlyArray<Uint8Array> => {
  const pieces: Array<Uint8Array> = []
  for (let at = 0; at < whole.length;) pieces.push(whole.subarray(at, at += 1 + random.below(10)))
  return pieces
}
const decoded = (text: string): string | undefined => {
  const { end, push } = base64Decoder()
  const [pushed, last] = [push(bytesOf(text)), end()]
  return pushed === undefined || last === undefined ? undefined : Buffer.concat([pushed, last]).toString()
}

describe("Base64", () => {
  it("matches other implementations, wherever the input is split", () => forRandom(300, (random) => {
    const bytes = Buffer.from(random.bytes(random.below(100)))
    const encoder = base64Encoder()
    const text = Buffer.concat([...cut(random, bytes).map(encoder.push), encoder.end()]).toString()
    expect(text).toBe(bytes.toString("base64"))
    const decoder = base64Decoder()
    expect(Buffer.concat([...cut(random, bytesOf(text)).map((piece) => decoder.push(piece)!), decoder.end()!])).toEqual(bytes)
  }))

  it.each([
    ["", ""],
    ["YQ==", "a"],
    ["YQ", "a"],
    ["YWI=", "ab"],
    ["YWI", "ab"],
    ["YWJj", "abc"],
    [" Y\r\nWJ\tj\n", "abc"],
    ["YQ = =", "a"],
    ["Y", undefined],
    ["YQ=", undefined],
    ["YQ===", undefined],
    ["YWJj=", undefined],
    ["=", undefined],
    ["YQ==YQ==", undefined],
    ["YW-_", undefined],
    ["data:application/pdf;base64,YQ==", undefined],
    ["YWÿ", undefined]
  ])("reads %j as %j", (text, expected) => expect(decoded(text)).toBe(expected))
})
