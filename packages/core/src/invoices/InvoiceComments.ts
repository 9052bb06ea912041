/** Parses comments in a query string, in every encoding that client software uses for lists and objects. SPEC-GAP-B10 */
import { Effect } from "effect"
import { fault } from "../shared/Fault.ts"
import { InvalidInput, readInput } from "../shared/InvalidInput.ts"
import { isObject } from "../shared/Json.ts"
import { type InvoiceComment, InvoiceComments } from "./model/Invoice.ts"

type Pair = readonly [name: string, value: string]

const members = ["id", "commentText"] as const
type Member = typeof members[number]

type Unchecked = Partial<Record<Member, unknown>>

/** Synchronous, because a query is short. */
const decode = readInput(InvoiceComments)

/** Names of query parameters that are a comment or a part of one. */
export const isCommentParameter = (name: string): boolean =>
  name === "id" || name === "commentText" || /^comments?(?:\[\d{0,9}\]|\.\d{1,9})?(?:\[(?:id|commentText)\]|\.(?:id|commentText))?$/u.test(name)

/** `pairs` is the whole decoded query. Other parameters are ignored. */
export const queryComments = (pairs: ReadonlyArray<Pair>): Effect.Effect<ReadonlyArray<InvoiceComment>, InvalidInput> => {
  const found = [...indexed(pairs).map(numbered), ...whole(pairs), ...exploded(pairs).map(numbered)].filter((each) => Object.keys(each).length > 0)
  if (found.some((each) => each.commentText === "[object Object]")) {
    const detail = "A comment lost its content on the way: write objects in the query as JSON, or as commentText=…"
    return Effect.fail(InvalidInput.of(fault(["comments"], detail)))
  }
  return Effect.fromResult(decode(found, ["comments"]))
}

/** `comments=…`: a JSON list or object, or plain text. May occur several times. */
const whole = (pairs: ReadonlyArray<Pair>): ReadonlyArray<Unchecked> =>
  pairs.filter(([name]) => /^comments?(?:\[\])?$/u.test(name)).flatMap(([, value]) => value.trim() === "" ? [] : read(value))

const read = (value: string): ReadonlyArray<Unchecked> => {
  const first = value.trim()[0]
  // some clients write several objects separated by commas, without the brackets of a list
  const list = first === "{" ? `[${value}]` : first === "[" ? value : ""
  const comments = [jsonOf(list)].flat().map(commentOf)
  return comments.every((each) => each !== undefined) ? comments : [unexploded(value) ?? { commentText: value }]
}

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const commentOf = (json: unknown): Unchecked | undefined => {
  if (typeof json === "string") return { commentText: json }
  return isObject(json) ? pick((member) => json[member]) : undefined
}

/** `id,1,commentText,…`: names and values in one list. */
const unexploded = (value: string): Unchecked | undefined => {
  const parts = /^(?:id,(-?\d+),)?commentText,([^]*)$/u.exec(value)
  return parts === null ? undefined : numbered({ ...(parts[1] === undefined ? {} : { id: parts[1] }), commentText: parts[2] })
}

/** `comments[0][commentText]=…`, `comments[0].commentText=…`, `comments.0.commentText=…`, also without an index or with `[]`. */
const indexed = (pairs: ReadonlyArray<Pair>): ReadonlyArray<Unchecked> => {
  const places = new Map<number, Unchecked>()
  const unplaced: Array<Part> = []
  for (const [name, value] of pairs) {
    const parts = /^comments?(?:(?:\[(\d{0,9})\])|(?:\.(\d{1,9})))?(?:\[(id|commentText)\]|\.(id|commentText))$/u.exec(name)
    if (parts === null) continue
    const member = (parts[3] ?? parts[4]) as Member
    const place = parts[1] ?? parts[2]
    if (place === undefined || place === "") unplaced.push([member, value])
    else places.set(Number(place), { ...places.get(Number(place)), [member]: value })
  }
  return [...[...places].sort(([a], [b]) => a - b).map(([, comment]) => comment), ...assembled(unplaced)]
}

/** `id=…&commentText=…`, the default encoding of an exploded object. */
const exploded = (pairs: ReadonlyArray<Pair>): ReadonlyArray<Unchecked> =>
  assembled(pairs.filter((pair): pair is Part => pair[0] === "id" || pair[0] === "commentText"))

type Part = readonly [member: Member, value: string]

/** Builds comments from a sequence of members: either all ids and then all texts, or comment by comment. */
const assembled = (parts: ReadonlyArray<Part>): ReadonlyArray<Unchecked> => {
  const [ids, texts] = members.map((member) => parts.filter(([name]) => name === member).map(([, value]) => value)) as [Array<string>, Array<string>]
  const half = parts.slice(0, ids.length)
  if (ids.length === texts.length && half.every(([name]) => name === half[0]![0])) {
    return ids.map((id, at) => ({ id, commentText: texts[at] }))
  }
  const comments: Array<Unchecked> = []
  for (const [member, value] of parts) {
    const last = comments[comments.length - 1]
    // a repeated member starts the next comment
    if (last === undefined || member in last) comments.push({ [member]: value })
    else comments[comments.length - 1] = { ...last, [member]: value }
  }
  return comments
}

const pick = (of: (member: Member) => unknown): Unchecked =>
  Object.fromEntries(members.map((member) => [member, of(member)] as const).filter(([, value]) => value !== undefined && value !== null))

/** An id in a parameter of its own is text. JSON has its own types, as in a body. */
const numbered = (comment: Unchecked): Unchecked =>
  typeof comment.id === "string" && /^-?\d{1,20}$/u.test(comment.id.trim()) ? { ...comment, id: Number(comment.id) } : comment
