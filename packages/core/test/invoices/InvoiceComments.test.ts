import { assert, describe, it } from "@effect/vitest"
import { type InvoiceComment, queryComments } from "@waybill/core"
import { Effect } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import { int, listOf, oneOf } from "../arbitraries.ts"

type Pair = readonly [string, string]
type Encoding = (comments: ReadonlyArray<InvoiceComment>) => ReadonlyArray<Pair>

const read = (pairs: ReadonlyArray<Pair>) => Effect.runSync(queryComments(pairs))

/** Text as people write it, with everything that has a meaning in queries and JSON, and never blank. */
const text = Arbitrary.map(
  listOf(oneOf(["a", "paid", "ä", "船", "😀", " ", "\"", "'", "&", "=", "+", "%", ",", ";", ":", "{", "}", "[", "]", "\\", "\n", "1", "."]), 0, 12),
  (parts) => `x${parts.join("")}`
)

const withId = Arbitrary.map(Arbitrary.all([int(-5, 9_007_199_254_740_991), text]), ([id, commentText]): InvoiceComment => ({ id, commentText }))

const withoutId = Arbitrary.map(text, (commentText): InvoiceComment => ({ commentText }))

const parts = (comment: InvoiceComment): ReadonlyArray<Pair> => [
  ...(comment.id === undefined ? [] : [["id", String(comment.id)] as const]),
  ...(comment.commentText === undefined ? [] : [["commentText", comment.commentText] as const])
]

const placed = (name: (at: number, member: string) => string): Encoding => (comments) =>
  comments.flatMap((each, at) => parts(each).map(([member, value]): Pair => [name(at, member), value]))

/** Whatever comments there are. */
const encodings: Readonly<Record<string, Encoding>> = {
  "a JSON list": (comments) => [["comments", JSON.stringify(comments)]],
  "a JSON list, laid out": (comments) => [["comments", ` ${JSON.stringify(comments, null, 2)} `]],
  "JSON objects, one parameter each": (comments) => comments.map((each) => ["comments", JSON.stringify(each)]),
  "JSON objects with brackets behind the name": (comments) => comments.map((each) => ["comments[]", JSON.stringify(each)]),
  "JSON objects with commas": (comments) => comments.length === 0 ? [] : [["comments", comments.map((each) => JSON.stringify(each)).join(",")]],
  "JSON with ids as text": (comments) => [["comments", JSON.stringify(comments.map((each) => each.id === undefined ? each : { ...each, id: String(each.id) }))]],
  "places in brackets": placed((at, member) => `comments[${at}][${member}]`),
  "places in brackets, from behind": (comments) => placed((at, member) => `comments[${at}][${member}]`)(comments).toReversed(),
  "places in brackets, members after a point": placed((at, member) => `comments[${at}].${member}`),
  "places after a point": placed((at, member) => `comments.${at}.${member}`)
}

/** Comments that have the same members each, so that their borders show. */
const uniform: Readonly<Record<string, Encoding>> = {
  ...encodings,
  "exploded, one after another": placed((_, member) => member),
  "exploded, all ids before all texts": (comments) => comments.flatMap(parts).toSorted((a, b) => a[0] < b[0] ? 1 : a[0] > b[0] ? -1 : 0),
  "exploded, all texts before all ids": (comments) => comments.flatMap(parts).toSorted((a, b) => a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0),
  "empty brackets": placed((_, member) => `comments[][${member}]`)
}

const single: Readonly<Record<string, Encoding>> = {
  ...uniform,
  "a JSON object": ([comment]) => [["comments", JSON.stringify(comment)]],
  "members in brackets": placed((_, member) => `comments[${member}]`),
  "members after a point": placed((_, member) => `comments.${member}`),
  "names and values with commas": ([comment]) => [["comments", parts(comment!).flat().join(",")]]
}

const plain: Readonly<Record<string, Encoding>> = {
  ...uniform,
  "plain text": (comments) => comments.map((each) => ["comments", each.commentText!]),
  "plain text with brackets behind the name": (comments) => comments.map((each) => ["comments[]", each.commentText!]),
  "a JSON list of texts": (comments) => [["comments", JSON.stringify(comments.map((each) => each.commentText))]]
}

/** What else stands in a query. */
const around: ReadonlyArray<Pair> = [["DOT", "123"], ["fileIds", "a"], ["commentsOff", "true"], ["x.commentText", "y"]]

const sameInAll = (ways: Readonly<Record<string, Encoding>>, comments: ReadonlyArray<InvoiceComment>): void => {
  for (const [way, encode] of Object.entries(ways)) {
    assert.deepStrictEqual(read([...around, ...encode(comments), ...around]), comments, way)
  }
}

describe("comments in a query (SPEC-GAP-B10)", () => {
  it.prop("are the same in every encoding, whatever their members", [
    listOf(Arbitrary.map(Arbitrary.all([withId, oneOf(["both", "id", "text"])]), ([{ commentText, id }, kept]): InvoiceComment =>
      kept === "both" ? { id: id!, commentText: commentText! } : kept === "id" ? { id: id! } : { commentText: commentText! }), 0, 12)
  ], ([comments]) => sameInAll(encodings, comments))

  it.prop("are the same in every encoding when all have an id and a text", [listOf(withId, 0, 12)], ([comments]) => sameInAll(uniform, comments))

  it.prop("are the same in every encoding when there is one", [withId, withoutId], ([identified, other]) => {
    sameInAll(single, [identified])
    sameInAll(single, [other])
  })

  it.prop("are the same in every encoding when they are text only", [listOf(withoutId, 0, 12)], ([comments]) => sameInAll(plain, comments))

  it("are text where they look like JSON and are none", () => {
    for (const written of ["[urgent] pay", "{see attachment}", "\"quoted\"", "42", "null", "{\"id\":", "[1,2]", "[[]]"]) {
      assert.deepStrictEqual(read([["comments", written]]), [{ commentText: written }], written)
    }
  })

  it("are none where nothing is said", () => {
    for (const pairs of [[], [["comments", ""]], [["comments", " "]], [["comments", "[]"]], [["comments", "{}"]], [["comments", "{\"id\":null}"]]]) {
      assert.deepStrictEqual(read(pairs as unknown as ReadonlyArray<Pair>), [])
    }
  })

  it("keep what they do not know out", () => {
    assert.deepStrictEqual(read([["comments", "{\"commentText\":\"a\",\"__proto__\":{\"id\":1},\"author\":\"b\"}"], ["comments[0][__proto__]", "c"]]), [{ commentText: "a" }])
  })

  it("are refused when an id is no integer, when there are too many, or when the sender lost them", () => {
    const pointers = (pairs: ReadonlyArray<Pair>) => Effect.runSync(Effect.flip(queryComments(pairs))).faults.map((each) => each.pointer)
    assert.deepStrictEqual(pointers([["id", "one"], ["commentText", "a"]]), ["/comments/0/id"])
    assert.deepStrictEqual(pointers([["comments", "{\"id\":9007199254740993}"]]), ["/comments/0/id"])
    assert.deepStrictEqual(pointers([["comments", "{\"commentText\":5}"]]), ["/comments/0/commentText"])
    assert.deepStrictEqual(pointers([["comments", JSON.stringify(Array.from({ length: 1001 }, () => "a"))]]), ["/comments"])
    assert.deepStrictEqual(pointers([["comments", "[object Object]"]]), ["/comments"])
  })
})
