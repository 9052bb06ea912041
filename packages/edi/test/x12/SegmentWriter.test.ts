import { expect, it } from "vitest"
import { DelimiterInValue, usualDelimiters, writeSegment } from "@waybill/edi"

it("leaves out empty elements at the end of a segment only", () => {
  expect(writeSegment(["AT7", "", "", "AB", "NA", "", ""], usualDelimiters)).toBe("AT7***AB*NA~")
})

it("writes components with their delimiter", () => expect(writeSegment(["AK4", ["1", "2"], "782", "1"], usualDelimiters)).toBe("AK4*1>2*782*1~"))

it("refuses a value with a delimiter when there is no release character, and names the element", () => {
  expect(() => writeSegment(["N1", "SH", "STAR*ALLIANCE"], usualDelimiters)).toThrow(DelimiterInValue)
  expect(() => writeSegment(["N1", "SH", "STAR*ALLIANCE"], usualDelimiters)).toThrow(/^N1-02 cannot be written: "STAR\*ALLIANCE"/u)
})
