import { assert, describe, it } from "@effect/vitest"
import { type InvoiceComment, queryComments } from "@waybill/core/invoices"
import { Effect } from "effect"
import * as Arbitrary from "effect/Arbitrary"
import { int, listOf, oneOf } from "../arbitraries.ts"

type Pair = readonly [string, string]
type Encoding = (comments: ReadonlyArray<InvoiceComment>) => ReadonlyArray<Pair>

const read = (pairs: ReadonlyArray<Pair>) => Effect.runSync(queryComments(pairs))

/** Text that is not blank, with every character that has a meaning in queries and JSON. */
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

/** Encodings for any comments. */
const encodings: Readonly<Record<string, Encoding>> = {
  "a JSON list": (comments) => [["comments", JSON.stringify(comments)]],
  "a JSON list, laid out": (comments) => [["comments", ` ${JSON.stringify(comments, null, 2)} `]],
  "JSON objects, one parameter each": (comments) => comments.map((each) => ["comments", JSON.stringify(each)]),
  "JSON objects with brackets behind the name": (comments) => comments.map((each) => ["comments[]", JSON.stringify(each)]),
  "JSON objects with commas": (comments) => comments.length === 0 ? [] : [["comments", comments.map((each) => JSON.stringify(each)).join(",")]],
  "places in brackets": placed((at, member) => `comments[${at}][${member}]`),
  "places in brackets, from behind": (comments) => placed((at, member) => `comments[${at}][${member}]`)(comments).toReversed(),
  "places in brackets, members after a point": placed((at, member) => `comments[${at}].${member}`),
  "places after a point": placed((at, member) => `comments.${at}.${member}`)
}

/** Encodings for comments with equal members, because only then their boundaries are visible. */
const uniform: Readonly<Record<string, Encoding>> = {
  ...encodings,
  "exploded, one after another": placed((_, member) => member),
  "exploded, all ids before all texts": (comments) => comments.flatMap(parts).toSorted((a, b) => a[0] < b[0] ? 1 : a[0] > b[0] ? -1 : 0),
  "exploded, all texts before all ids": (comments) => comments.flatMap(parts).toSorted((a, b) => a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0),
  "empty brackets": placed((_, member) => `comments[][${member}]`),
  "members in brackets": placed((_, member) => `comments[${member}]`),
  "members after a point": placed((_, member) => `comments.${member}`)
}

const single: Readonly<Record<string, Encoding>> = {
  ...uniform,
  "a JSON object": ([comment]) => [["comments", JSON.stringify(comment)]],
  "names and values with commas": ([comment]) => [["comments", parts(comment!).flat().join(",")]]
}

const plain: Readonly<Record<string, Encoding>> = {
  ...uniform,
  "plain text": (comments) => comments.map((each) => ["comments", each.commentText!]),
  "plain text with brackets behind the name": (comments) => comments.map((each) => ["comments[]", each.commentText!]),
  "a JSON list of texts": (comments) => [["comments", JSON.stringify(comments.map((each) => each.commentText))]]
}

/** Other query parameters. */
const around: ReadonlyArray<Pair> = [["DOT", "123"], ["fileIds", "a"], ["commentsOff", "true"], ["mycomments", "y"], ["x.commentText", "y"], ["mycomments.0.id", "1"], ["comments[0][id]s", "1"]]

const sameInAll = (ways: Readonly<Record<string, Encoding>>, comments: ReadonlyArray<InvoiceComment>): void => {
  for (const [way, encode] of Object.entries(ways)) assert.deepStrictEqual(read([...around, ...encode(comments), ...around]), comments, way)
}

describe("comments in a query (SPEC-GAP-B10)", () => {
  it.prop("are equal in every encoding, with any members", [
    listOf(Arbitrary.map(Arbitrary.all([withId, oneOf(["both", "id", "text"])]), ([{ commentText, id }, kept]): InvoiceComment =>
      kept === "both" ? { id: id!, commentText: commentText! } : kept === "id" ? { id: id! } : { commentText: commentText! }), 0, 12)
  ], ([comments]) => sameInAll(encodings, comments))

  it.prop("are equal in every encoding if all have an id and a text", [listOf(withId, 0, 12)], ([comments]) => sameInAll(uniform, comments))

  it.prop("are equal in every encoding if there is one", [withId, withoutId], ([identified, other]) => {
    sameInAll(single, [identified])
    sameInAll(single, [other])
  })

  it.prop("are equal in every encoding if they are text only", [listOf(withoutId, 0, 12)], ([comments]) => sameInAll(plain, comments))

  it("are text if they look like JSON but are not", () => {
    for (const written of ["[urgent] pay", "{see attachment}", "\"quoted\"", "42", "null", "{\"id\":", "[1,2]", "[[]]", "see commentText,x"]) {
      assert.deepStrictEqual(read([["comments", written]]), [{ commentText: written }], written)
    }
  })

  it("begin where a member occurs again, in any order of members", () => {
    assert.deepStrictEqual(read([["id", "1"], ["commentText", "a"], ["id", "2"], ["id", " 3 "], ["commentText", "c"], ["commentText", "d"]]), [
      { id: 1, commentText: "a" },
      { id: 2 },
      { id: 3, commentText: "c" },
      { commentText: "d" }
    ])
  })

  it("are empty if the query has none", () => {
    for (const pairs of [[], [["comments", ""]], [["comments", " "]], [["comments", "[]"]], [["comments", "{}"]], [["comments", "{\"id\":null}"]]]) {
      assert.deepStrictEqual(read(pairs as unknown as ReadonlyArray<Pair>), [])
    }
  })

  it("ignore unknown members", () => {
    assert.deepStrictEqual(read([["comments", "{\"commentText\":\"a\",\"__proto__\":{\"id\":1},\"author\":\"b\"}"], ["comments[0][__proto__]", "c"]]), [{ commentText: "a" }])
  })

  it("are refused if an id is not an integer, if there are too many, or if the sender lost their content", () => {
    const pointers = (pairs: ReadonlyArray<Pair>) => Effect.runSync(Effect.flip(queryComments(pairs))).faults.map((each) => each.pointer)
    assert.deepStrictEqual(pointers([["id", "one"], ["commentText", "a"]]), ["/comments/0/id"])
    assert.deepStrictEqual(pointers([["comments", "{\"id\":9007199254740993}"]]), ["/comments/0/id"])
    assert.deepStrictEqual(pointers([["comments", "{\"id\":\"1\"}"]]), ["/comments/0/id"])
    assert.deepStrictEqual(pointers([["comments", "[{\"commentText\":\"a\"},{\"id\":\"1\",\"commentText\":\"b\"}]"]]), ["/comments/1/id"])
    assert.deepStrictEqual(pointers([["comments", "{\"commentText\":5}"]]), ["/comments/0/commentText"])
    assert.deepStrictEqual(pointers([["comments", JSON.stringify(Array.from({ length: 1001 }, () => "a"))]]), ["/comments"])
    assert.deepStrictEqual(pointers([["comments", "[object Object]"]]), ["/comments"])
  })
})
