import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { excerptOf, maxExcerptLength, outcomeOfAnswer, parseRetryAfter } from "../../src/webhook-sender/Answer.ts"
import type { ResponseHead } from "../../src/webhook-sender/ResponseParser.ts"

const now = () => 1_700_000_000_000 // Tue, 14 Nov 2023 22:13:20 GMT
const excerpt = (text: string | ReadonlyArray<number>) => excerptOf(typeof text === "string" ? Buffer.from(text) : Buffer.from(text))
const Byte = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))

describe("excerptOf", () => {
  it("keeps text unchanged, except line breaks as spaces", () => {
    assert.strictEqual(excerpt("Grüße, 世界 👋"), "Grüße, 世界 👋")
    assert.strictEqual(excerpt("one\r\n\ttwo\nthree"), "one two three")
    assert.strictEqual(excerptOf(undefined), "")
  })

  it("replaces NUL, control characters, invalid UTF-8 and direction marks", () => {
    assert.strictEqual(excerpt("a\u0000b\u0007c\u007fd\u0085e"), "a�b�c�d�e")
    assert.strictEqual(excerpt([0x61, 0xff, 0x62, 0xc3]), "a�b�")
    assert.strictEqual(excerpt("a\u202eb\u2066c\u200bd\ufeffe\u2028f"), "a�b�c�d�e�f")
  })

  it("replaces terminal sequences as a whole", () => {
    assert.strictEqual(excerpt("\u001b[31mred\u001b[0m"), "�red�")
    assert.strictEqual(excerpt("\u001b]0;title\u0007x\u001b]8;;http://a\u001b\\y"), "�x�y")
    assert.strictEqual(excerpt("\u001bMx\u001b"), "�x�")
  })

  it("ends after 1,024 characters without splitting one", () => {
    assert.strictEqual(excerpt("x".repeat(5000)), "x".repeat(1024))
    assert.strictEqual(excerpt(`${"x".repeat(1023)}👋`), "x".repeat(1023))
    assert.strictEqual(excerpt("👋".repeat(5000)), "👋".repeat(512))
    assert.strictEqual(excerpt("世".repeat(5000)), "世".repeat(1024))
  })

  it.prop("is short and printable for any bytes", [Schema.Array(Byte)], ([bytes]) => {
    const text = excerptOf(Buffer.from(bytes))
    assert.isAtMost(text.length, maxExcerptLength)
    assert.notMatch(text, /[\p{C}\p{Zl}\p{Zp}]/u)
  }, { arbitrary: { runs: 500 } })
})

describe("parseRetryAfter", () => {
  it("reads seconds", () => {
    assert.strictEqual(parseRetryAfter("0", now), 0)
    assert.strictEqual(parseRetryAfter("120", now), 120)
    assert.strictEqual(parseRetryAfter(" 007 ", now), 7)
  })

  it("reads the three date formats, and reads a past date as 0", () => {
    assert.strictEqual(parseRetryAfter("Tue, 14 Nov 2023 22:14:20 GMT", now), 60)
    assert.strictEqual(parseRetryAfter("Tuesday, 14-Nov-23 22:14:20 GMT", now), 60)
    assert.strictEqual(parseRetryAfter("Tue Nov 14 22:14:20 2023", now), 60)
    assert.strictEqual(parseRetryAfter("Wed Dec  6 22:13:20 2023", now), 22 * 86_400)
    assert.strictEqual(parseRetryAfter("Sun, 06 Nov 1994 08:49:37 GMT", now), 0)
    assert.strictEqual(parseRetryAfter("Sunday, 06-Nov-94 08:49:37 GMT", now), 0)
    assert.strictEqual(parseRetryAfter("Tuesday, 01-Jan-30 00:00:00 GMT", now), 193_456_000)
  })

  it("returns at most ten years", () => {
    const tenYears = 315_360_000
    assert.strictEqual(parseRetryAfter("1000000000", now), tenYears)
    assert.strictEqual(parseRetryAfter("9".repeat(400), now), tenYears)
    assert.strictEqual(parseRetryAfter("Fri, 31 Dec 9999 23:59:59 GMT", now), tenYears)
  })

  it("ignores any other value", () => {
    for (const text of ["", "-1", "+5", "1.5", "1e9", "NaN", "Infinity", "soon", "0x10", "１２", "5 minutes", "2023-11-14T22:14:20Z", "Tue, 14 Nov 2023 22:14:20", "Tue, 14 Foo 2023 22:14:20 GMT", "Tue, 14 Nov 2023 99:14:20 GMT", "Tue, 14 Nov 2023 22:14:20 GMT\u0000"]) {
      assert.isUndefined(parseRetryAfter(text, now), text)
    }
    assert.isUndefined(parseRetryAfter(undefined, now))
  })

  it.prop("is undefined or a whole number of seconds from 0 to ten years", [Schema.String], ([text]) => {
    const seconds = parseRetryAfter(text, now)
    return seconds === undefined || Number.isInteger(seconds) && seconds >= 0 && seconds <= 315_360_000
  })
})

describe("outcomeOfAnswer", () => {
  const outcome = (status: number, { date, location, retryAfter }: Partial<ResponseHead> = {}) =>
    outcomeOfAnswer({ status, date, location, retryAfter }, Buffer.from("why"), now)

  it("accepts every 2xx and nothing else", () => {
    for (let status = 200; status < 1000; status++) {
      const { _tag } = outcome(status)
      assert.strictEqual(_tag, status < 300 ? "Accepted" : status === 410 ? "Gone" : "Failed", String(status))
    }
  })

  it("maps every other status to a stable code", () => {
    const codes: Record<number, string> = { 300: "http_3xx", 304: "http_3xx", 399: "http_3xx", 400: "http_4xx", 409: "http_4xx", 429: "http_429", 451: "http_4xx", 500: "http_5xx", 503: "http_5xx", 599: "http_5xx", 600: "protocol", 999: "protocol" }
    for (const [status, failure] of Object.entries(codes)) {
      const answered = outcome(Number(status))
      assert.strictEqual(answered._tag === "Failed" ? answered.failure : undefined, failure, status)
    }
  })

  it("counts a Retry-After with a date from the date of the response, because the clock of this process may be wrong", () => {
    const retryAfter = "Wed, 15 Nov 2023 10:01:00 GMT"
    const secondsOf = (date: string) => {
      const answered = outcome(503, { date, retryAfter })
      return answered._tag === "Failed" ? answered.retryAfterSeconds : undefined
    }
    assert.strictEqual(secondsOf("Wed, 15 Nov 2023 10:00:00 GMT"), 60)
    assert.strictEqual(secondsOf("yesterday"), parseRetryAfter(retryAfter, now))
  })

  it("returns Retry-After and the body excerpt", () => {
    assert.deepStrictEqual(outcome(503, { retryAfter: "30" }), { _tag: "Failed", failure: "http_5xx", status: 503, detail: "The receiver answered 503.", excerpt: "why", retryAfterSeconds: 30 })
    assert.deepStrictEqual(outcome(429, { retryAfter: "5" }), { _tag: "Failed", failure: "http_429", status: 429, detail: "The receiver answered 429.", excerpt: "why", retryAfterSeconds: 5 })
    assert.deepStrictEqual(outcome(404, { retryAfter: "never" }), { _tag: "Failed", failure: "http_4xx", status: 404, detail: "The receiver answered 404.", excerpt: "why" })
    assert.deepStrictEqual(outcome(410), { _tag: "Gone", status: 410, excerpt: "why" })
    assert.deepStrictEqual(outcome(204), { _tag: "Accepted", status: 204, excerpt: "why" })
  })

  it("contains the target of a redirect, as printable text", () => {
    const answered = outcome(302, { location: "https://elsewhere.example/\u001b[31m\u0000hook" })
    assert.strictEqual(
      answered._tag === "Failed" ? answered.detail : undefined,
      "The receiver answered 302 and points to https://elsewhere.example/��hook, but redirects are not followed."
    )
  })
})
