import { describe, expect, it } from "vitest"
import { visible, visibleLine } from "../../../dashboard/model/visibleText.ts"

describe("external text", () => {
  it("keeps visible characters unchanged, in one piece", () => {
    for (const text of ["", "<script>alert(1)</script>", "caf\u00e9 \u00fc \u4e2d\u6587 \u05d0\u05d1 \ud83d\ude9a", "a  b"]) {
      expect(visible(text)).toEqual(text === "" ? [] : [{ text }])
    }
  })

  it("marks characters that are invisible or reorder their neighbours", () => {
    const marked: ReadonlyArray<readonly [string, string]> = [
      ["\u0000", "null"], ["\u001b", "escape"], ["\t", "tab"], ["\r", "carriage return"], ["\u009b", "control character"], ["\u202e", "right-to-left override"],
      ["\u2066", "left-to-right isolate"], ["\u200b", "zero-width space"], ["\ufeff", "byte order mark"], ["\u00a0", "no-break space"], ["\u3164", "invisible character"],
      ["\u{e0041}", "invisible character"], ["\ufe0f", "invisible character"], ["\u2003", "blank"], ["\ud800", "half a character"], ["\ue000", "private character"]
    ]
    for (const [text, name] of marked) {
      const mark = `U+${text.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`
      expect(visible(`a${text}b`)).toEqual([{ text: "a" }, { mark, name, endsLine: false }, { text: "b" }])
    }
    expect(visible("a\nb")[1]).toEqual({ mark: "U+000A", name: "line feed", endsLine: true })
    expect(visibleLine("a\u202eb\nc")).toBe("a⟨U+202E⟩b⟨U+000A⟩c")
  })
})
