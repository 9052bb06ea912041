/** JSON with one defect. Serialized by hand, because JavaScript values cannot express every defect. */
import type { SeededRandom } from "@waybill/conformance/fixtures"

/** Text that is inserted into the JSON unchanged. */
class Raw {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** A duplicate member; JSON parsers use the last one. */
class Twice {
  readonly first: unknown
  readonly second: unknown
  constructor(first: unknown, second: unknown) {
    this.first = first
    this.second = second
  }
}

const raw = (text: string) => new Raw(text)

const nested = (depth: number, open: string, close: string, inner = "") => raw(open.repeat(depth) + inner + close.repeat(depth))

export const oddTexts = [
  "", " ", "\t", "\u0000", "a\u0000b", "\u007f", "\u0085", "\u00a0", "\u200b", "\u202e", "\u2028", "\ufeff", "\uffff", "\u{10ffff}", "e\u0301", "İ", "ß", "ﬀ", "😀", "👩‍👩‍👧",
  "%", "%00", "%zz", "..", "../..", "/", "\\", "'", "\"", "<script>", "NaN", "Infinity", "null", "undefined", "true", "0", "-0", "1e999", "0x10", "1_000",
  "__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "$ref", "{{7*7}}", "${7*7}", "'; DROP TABLE events; --", "\r\nSet-Cookie: a=b",
  "2026-02-30T00:00:00Z", "0000-01-01T00:00:00Z", "+275760-09-13T00:00:00Z", "9999-12-31T23:59:59.999999999+23:59", "2026-11-20T25:00:00Z", "2026-11-20T10:00:00+99:99",
  "https://[::1]/", "https://user:pw@receiver.example/", "https://receiver.example/\u0000", "ftp://receiver.example", "javascript:alert(1)", "https://" + "a".repeat(300) + ".example",
  "whsec_", "whsec_AAAA", "x".repeat(300), "é".repeat(2100), "x".repeat(20_000), "9".repeat(400), "=".repeat(50)
] as const

const oddValues: ReadonlyArray<unknown> = [
  null, true, false, 0, -1, 1.5, 1e308, -1e308, 9_007_199_254_740_991, [], {}, [[]], [null], { a: { b: [] } },
  raw("-0"), raw("1e400"), raw("-1e400"), raw("1E-400"), raw("9007199254740993"), raw("123456789012345678901234567890"), raw("0.1000000000000000055511151231257827"),
  raw("\"\\ud800\""), raw("\"\\udfff\\ud800\""), raw("\"a\\ud83d\""), raw("{\"__proto__\":{\"roles\":[\"operator\"]}}"), raw("{\"constructor\":{\"prototype\":{}}}"),
  nested(65, "[", "]"), nested(3000, "[", "]"), nested(70, "{\"a\":", "}", "1"), ...oddTexts
]

const oddNames: ReadonlyArray<string> = ["__proto__", "constructor", "toJSON", "then", "length", "", " ", "\u0000", "a.b", "a/b", "~0", "0", "ä", "x".repeat(2000), "roles", "tenantId", "tenant_id", "client"]

/** A location in a value: its container and key. */
interface JsonPath {
  readonly holder: Record<PropertyKey, unknown>
  readonly key: string | number
}

const pathsIn = (value: unknown, found: Array<JsonPath> = []): ReadonlyArray<JsonPath> => {
  if (typeof value !== "object" || value === null || value instanceof Raw || value instanceof Twice) return found
  for (const key of Array.isArray(value) ? value.keys() : Object.keys(value)) {
    found.push({ holder: value as Record<PropertyKey, unknown>, key })
    pathsIn((value as Record<PropertyKey, unknown>)[key], found)
  }
  return found
}

const set = (holder: Record<PropertyKey, unknown>, key: PropertyKey, value: unknown): void =>
  void Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true })

const damages: ReadonlyArray<(place: JsonPath, random: SeededRandom) => void> = [
  ({ holder, key }, random) => set(holder, key, random.pick(oddValues)),
  ({ holder, key }, random) => set(holder, key, random.pick(oddValues)),
  ({ holder, key }, random) => set(holder, key, random.pick(oddTexts)),
  ({ holder, key }) => set(holder, key, null),
  ({ holder, key }) => Array.isArray(holder) ? void holder.splice(Number(key), 1) : void delete holder[key],
  ({ holder }, random) => Array.isArray(holder) ? void holder.push(random.pick(oddValues)) : set(holder, random.pick(oddNames), random.pick(oddValues)),
  ({ holder, key }) => set(holder, key, [holder[key]]),
  ({ holder, key }) => set(holder, key, { [key]: holder[key] }),
  ({ holder, key }) => set(holder, key, typeof holder[key] === "number" ? String(holder[key]) : typeof holder[key] === "string" ? Number(holder[key]) : holder[key]),
  ({ holder, key }, random) => {
    if (!Array.isArray(holder)) set(holder, key, new Twice(holder[key], random.pick(oddValues)))
  },
  ({ holder, key }) => {
    const value = holder[key]
    if (typeof value === "string") set(holder, key, value + value)
  },
  ({ holder, key }) => {
    const value = holder[key]
    if (Array.isArray(value) && value.length > 0 && JSON.stringify(value[0]).length < 100) set(holder, key, Array.from({ length: 1001 }, () => value[0]))
  }
]

/** The JSON text with one or a few damaged locations. */
export const damagedJson = (body: unknown, random: SeededRandom): string => {
  const copy: unknown = { whole: structuredClone(body) }
  for (let count = random.pick([1, 1, 1, 2, 4]); count > 0; count--) {
    const paths = pathsIn(copy)
    if (paths.length > 0) random.pick(damages)(random.pick(paths), random)
  }
  const whole = (copy as { readonly whole?: unknown }).whole
  return whole === undefined ? "" : written(whole instanceof Twice ? whole.second : whole)
}

const written = (value: unknown): string => {
  if (value instanceof Raw) return value.text
  if (Array.isArray(value)) return `[${value.map(written).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null"
  const members = Object.entries(value).map(([name, each]) => {
    const key = JSON.stringify(name)
    return each instanceof Twice ? `${key}:${written(each.first)},${key}:${written(each.second)}` : `${key}:${written(each)}`
  })
  return `{${members.join(",")}}`
}

const encoder = new TextEncoder()

/** Bytes that are not a JSON object, or not in UTF-8. */
export const garbageFor = (body: unknown, random: SeededRandom): Uint8Array => {
  const text = JSON.stringify(body)
  const at = random.below(text.length)
  const made: string | Uint8Array = random.pick([
    () => "",
    () => text.slice(0, at),
    () => `${text.slice(0, at)}\u0000${text.slice(at)}`,
    () => `${text}${text}`,
    () => `${text},`,
    () => `[${text}]`,
    () => `"${at}"`,
    () => "null",
    () => String(at),
    () => "<?xml version=\"1.0\"?><!DOCTYPE a [<!ENTITY b SYSTEM \"file:///etc/passwd\">]><a>&b;</a>",
    () => "a=1&b=2",
    () => "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\n1\r\n--x--",
    () => `${"[".repeat(20_000)}`,
    () => `{"a":${"{\"a\":".repeat(2000)}1${"}".repeat(2001)}`,
    () => `{"a":${"[".repeat(20_000)}${"]".repeat(20_000)}}`,
    () => `\ufeff${text}`,
    () => `${" ".repeat(2000)}${text}`,
    () => text.replaceAll("\"", "'"),
    () => new Uint8Array(Buffer.from(text, "utf16le")),
    () => Uint8Array.from([...encoder.encode(text.slice(0, at)), 0xff, 0xc0, 0x80, ...encoder.encode(text.slice(at))]),
    () => Uint8Array.from([0x1f, 0x8b, 0x08, 0x00, ...encoder.encode(text)]),
    () => Uint8Array.from({ length: 1 + random.below(60) }, () => random.below(256))
  ])()
  return typeof made === "string" ? encoder.encode(made) : made
}
