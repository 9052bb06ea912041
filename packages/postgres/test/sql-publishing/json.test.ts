/** The SQL functions that read and write JSON values agree with JavaScript. */
import { parseInstant } from "@waybill/core"
import { Effect, Schema } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import { it } from "@effect/vitest"
import { describe, expect } from "vitest"
import { runningService } from "../host/Service.ts"

const service = await runningService({ sqlPublishing: true })

const rows = async (text: string, values: ReadonlyArray<unknown>) =>
  (await service.pool.query(text.replaceAll("@", `"${service.schema}".`), [...values])).rows

const promised = (check: () => Promise<void>) => Effect.promise(check)

const whole = (minimum: number, maximum: number) => Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum, maximum })))
const list = <A>(item: Arbitrary.Arbitrary<A>, maxLength: number) => Arbitrary.array(item, { minLength: 1, maxLength })

/** Numbers as a sender may write them: any count of digits on both sides of the point, with and without an exponent. */
const numberText = Arbitrary.map(
  Arbitrary.all({ sign: whole(0, 3), digits: list(whole(0, 9), 24), point: whole(0, 24), exponent: whole(-360, 340), hasExponent: whole(0, 2) }),
  ({ digits, exponent, hasExponent, point, sign }) => {
    const before = digits.slice(0, point).join("").replace(/^0+(?=.)/, "") || "0"
    const after = digits.slice(point).join("")
    return `${sign === 0 ? "-" : ""}${before}${after === "" ? "" : `.${after}`}${hasExponent === 0 ? `e${exponent}` : ""}`
  }
)

const plainPieces = ["a", " ", ", ", ": ", "\u007f", "\u2028", "{", "}", "[", "]", "0", "10", "007", "4294967294", "4294967295", "ä", "船", "😀", "__proto__", "'", "$1"]
const escapedPieces = ["\"", "\\", "\\\"", "\n", "\t", "\u0001", "\\u0022", "\\u005c"]
const textOf = (pieces: ReadonlyArray<string>) => Arbitrary.map(list(whole(0, pieces.length - 1), 6), (chosen) => chosen.map((at) => pieces[at]).join(""))
const text = textOf([...plainPieces, ...escapedPieces])

/** An object of texts, numbers and nested values, as JSON text. */
const objectText = (name: Arbitrary.Arbitrary<string>) => Arbitrary.map(
  Arbitrary.all({ names: list(name, 6), texts: list(text, 6), numbers: list(numberText, 4), shape: whole(0, 4) }),
  ({ names, numbers, shape, texts }) => {
    const values = names.map((_, at) => {
      const own = at % 2 === 0 ? JSON.stringify(texts[at % texts.length]) : numbers[at % numbers.length]!
      return shape === 0 ? own : shape === 1 ? `[${own},null,true, ${own}]` : shape === 2 ? `{ "deep": ${own}, "5": false, "": {} }` : own
    })
    return `{${names.map((name, at) => `${JSON.stringify(name)}: ${values[at]}`).join(" , ")}}`
  }
)

const written = (objects: ReadonlyArray<string>) =>
  rows("SELECT o::jsonb::text AS held, @json_text(o::jsonb) AS text, @json_parts_text(o::jsonb) AS parts FROM unnest($1::text[]) AS o", [objects])

describe("json_text", () => {
  // V8 reads "\n" as "\\" after it has read an object with a member of that name (https://github.com/nodejs/node/issues/63785), so JSON.parse
  // is the reference for names without escapes only.
  it.effect.prop("writes what JSON.stringify writes of what JSON.parse reads", [list(objectText(textOf(plainPieces)), 20)], ([objects]) =>
    promised(async () => {
      for (const { held, parts, text } of await written(objects)) {
        const expected = JSON.stringify(JSON.parse(held))
        expect(text).toBe(expected)
        expect(parts).toBe(expected)
      }
    }), { arbitrary: { runs: 40 } })

  it.effect.prop("writes names with escapes as a whole text and member by member alike", [list(objectText(text), 20)], ([objects]) =>
    promised(async () => {
      for (const { parts, text } of await written(objects)) expect(text).toBe(parts)
    }), { arbitrary: { runs: 40 } })

  it("writes each escape of a name like JSON.stringify", async () => {
    for (const name of [...escapedPieces, ...Array.from({ length: 31 }, (_, at) => String.fromCharCode(at + 1)), "a\": \\", "\\\\", "ä\n\"船"]) {
      const expected = `{${JSON.stringify(name)}:1}`
      expect(await written([expected])).toMatchObject([{ parts: expected, text: expected }])
    }
  })

  it.effect.prop("reads and writes numbers like JavaScript", [list(numberText, 200)], ([numbers]) =>
    promised(async () => {
      const found = await rows("SELECT n::numeric::text AS held, @json_number_text(n::numeric) AS text FROM unnest($1::text[]) AS n", [numbers])
      for (const { held, text } of found) expect(text, held).toBe(JSON.stringify(Number(held) + 0))
    }), { arbitrary: { runs: 20 } })

  it("knows the limits of JavaScript's numbers", async () => {
    const numbers = ["1e21", "999999999999999999999", "1e-6", "0.00000099999", "1e-7", "1.7976931348623157e308", "1.7976931348623159e308", "-1e400", "4.9e-324", "2e-324", "1e-400",
      "9007199254740993", "0.1", "100", "1.50", "123456789.123456789123", "5e-7", "-1e-7", "1e15", "123456789012345680000"]
    const found = await rows("SELECT n, @json_number_text(n::numeric) AS text FROM unnest($1::text[]) AS n", [numbers])
    expect(found.map(({ text }) => text)).toEqual(numbers.map((number) => JSON.stringify(Number(number))))
  })

  it("writes digits that are halfway between two numbers where JavaScript does", async () => {
    // d * 10^p is halfway where it is an odd number of 54 bits times a power of two; the last ones have one digit less than Postgres writes
    const halfway = [1, 2, 3, 5, 8, 13, 18, 22, 23].flatMap((power) =>
      Array.from({ length: 60 }, (_, at) => [1n, 3n, 7n, 51n, 123n].map((odd) => odd * 2n ** BigInt(at) * 10n ** BigInt(power))).flat())
    const numbers = ["-600021200000000000000", "-6e22", "42133285576376320000000000000000000", "43892504180817920000000000000000000", ...halfway.map(String)]
    const found = await rows("SELECT n, @json_number_text(n::numeric) AS text FROM unnest($1::text[]) AS n", [numbers])
    expect(found.map(({ text }) => text)).toEqual(numbers.map((number) => JSON.stringify(Number(number))))
  })

  it("does not write out numbers with very many digits, which would exceed Postgres' memory", async () => {
    const numbers = Array.from({ length: 10_000 }, (_, at) => ["1e120000", "-1e120000", "1e-16000", "1e29"][at % 4]!)
    const [found] = await rows("SELECT @json_text($1::jsonb) AS text", [`[${numbers.join(",")}]`])
    expect(found!.text).toBe(JSON.stringify(numbers.map(Number)))
  })
})

/** Date-times near the border between valid and invalid. */
const dateTime = Arbitrary.map(
  Arbitrary.all({ year: whole(0, 9999), month: whole(0, 13), day: whole(0, 32), hour: whole(0, 24), minute: whole(0, 60), second: whole(0, 60), fraction: whole(-2, 1_000_000_000), zone: whole(0, 9), spoiled: whole(0, 200) }),
  ({ day, fraction, hour, minute, month, second, spoiled, year, zone }) => {
    const two = (n: number) => String(n).padStart(2, "0")
    const zones = ["Z", "z", "+00:00", "-00:00", "+23:59", "-23:59", "+24:00", "-06:60", "+5:30", ""]
    const whole = `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}${zone === 1 ? "t" : "T"}${two(hour)}:${two(minute)}:${two(second)}${fraction < 0 ? "" : `.${fraction}`}${zones[zone]}`
    return spoiled > whole.length ? whole : `${whole.slice(0, spoiled)}${["", " ", "1", "٣", "\n"][spoiled % 5]}${whole.slice(spoiled + (spoiled % 2))}`
  }
)

describe("instant_of", () => {
  it.effect.prop("reads what core reads, to the millisecond, and nothing else", [list(dateTime, 200)], ([texts]) =>
    promised(async () => {
      const all = [...texts, "0000-02-29T00:00:00Z", "0000-01-01T00:00:00+23:59", "9999-12-31T23:59:59.999999999-23:59", "1900-02-29T00:00:00Z", "2000-02-29T12:00:00.1Z", "2026-11-20T08:15:00Z\n"]
      const found = await rows("SELECT t, round(extract(epoch FROM @instant_of(t)) * 1000)::float8 AS millis, extract(epoch FROM @instant_of(t)) * 1000 % 1 AS rest FROM unnest($1::text[]) AS t", [all])
      for (const { millis, rest, t } of found) {
        expect(millis, t).toBe(parseInstant(t) ?? null)
        expect(Number(rest ?? 0)).toBe(0)
      }
    }), { arbitrary: { runs: 20 } })
})
