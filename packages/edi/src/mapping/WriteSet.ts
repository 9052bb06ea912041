/** Writes a record as a transaction set by its mapping. Members that no element can carry are listed. */
import type { PartnerProfile } from "../partners/PartnerProfile.ts"
import type { WrittenSegment, WrittenSet } from "../x12/SegmentWriter.ts"
import { elementName } from "../x12/Segment.ts"
import { type ElementRule, isLoop, type LoopRule, type Mapping, type Rule, type SegmentRule } from "./Mapping.ts"
import { leaves, member, within } from "./Members.ts"

/** A member that the set does not carry, or not as it is. */
export interface LostMember {
  readonly member: string
  readonly reason: string
}

/** A written set with the members that have no place, or why it was not written. */
export type WriteSetResult =
  | { readonly set: WrittenSet; readonly lost: ReadonlyArray<LostMember> }
  /** The set needs an element that the record has no member for. */
  | { readonly refused: ReadonlyArray<LostMember> }

interface Writing {
  readonly record: unknown
  readonly partner: PartnerProfile
  readonly version: string
  readonly used: Set<string>
  readonly lost: Array<LostMember>
  readonly missing: Array<LostMember>
}

/** Segments of a rule, and whether one of them says more than constants. */
interface Written {
  readonly segments: ReadonlyArray<WrittenSegment>
  readonly hasData: boolean
}

const nothing: Written = { segments: [], hasData: false }

const joined = (all: ReadonlyArray<Written>): Written => ({ segments: all.flatMap(({ segments }) => segments), hasData: all.some(({ hasData }) => hasData) })

/** Writes a record as a set by its mapping. */
export const writeSet = (mapping: Mapping, record: unknown, partner: PartnerProfile, version: string): WriteSetResult => {
  const writing: Writing = { record, partner, version, used: new Set(), lost: [], missing: [] }
  const { segments } = writeRules(writing, mapping.rules, record, "")
  if (writing.missing.length > 0) return { refused: writing.missing }
  const reported = new Set([...writing.used, ...writing.lost.map(({ member }) => member), ...Object.keys(mapping.notWritten)])
  const unwritten = leaves(record).filter(([path]) => !isWithin(path, reported)).map(([path]): LostMember => ({ member: path, reason: "the set has no element for it" }))
  return { set: { id: mapping.set, segments }, lost: [...writing.lost, ...unwritten] }
}

const isWithin = (path: string, paths: ReadonlySet<string>): boolean => {
  for (let end = path.length; end > 0; end = path.lastIndexOf(".", end - 1)) if (paths.has(path.slice(0, end))) return true
  return false
}

const writeRules = (writing: Writing, rules: ReadonlyArray<Rule>, data: unknown, at: string): Written => {
  const written = new Map<Rule, Written>()
  // a list is what no other rule has written
  for (const rule of [...rules.filter(({ list }) => list === undefined), ...rules.filter(({ list }) => list !== undefined)]) {
    if (rule.only !== "in") written.set(rule, isLoop(rule) ? writeLoop(writing, rule, data, at) : writeSegments(writing, rule, data, at))
  }
  const all = rules.map((rule) => written.get(rule) ?? nothing)
  return joined(all)
}

const writeLoop = (writing: Writing, rule: LoopRule, data: unknown, at: string): Written => {
  if (rule.list !== undefined) {
    const list = member(data, rule.list)
    const all = (Array.isArray(list) ? list : []).map((item, index) => writeOne(writing, rule, item, within(within(at, rule.list!), String(index)), index + 1))
    return joined(all)
  }
  const inner = rule.member === undefined ? data : member(data, rule.member)
  return inner === undefined ? nothing : writeOne(writing, rule, inner, within(at, rule.member ?? ""), 1)
}

/** A loop starts with its segment even if that has nothing to say. LX counts its loops. */
const writeOne = (writing: Writing, rule: LoopRule, data: unknown, at: string, number: number): Written => {
  const { hasData, segments } = writeRules(writing, rule.content, data, at)
  if (!hasData && rule.each !== true) return nothing
  const started = segments[0]?.[0] === rule.loop
  const start: WrittenSegment = rule.where === undefined ? [rule.loop] : withCode([rule.loop], rule.where.element, rule.where.is[0]!)
  const [first = start, ...others] = started ? segments : [start, ...segments]
  const counted: WrittenSegment = rule.loop === "LX" ? ["LX", String(number)] : rule.where === undefined ? first : withCode(first, rule.where.element, rule.where.is[0]!)
  return { segments: [counted, ...others], hasData }
}

const writeSegments = (writing: Writing, rule: SegmentRule, data: unknown, at: string): Written => {
  if (rule.list === undefined) return writeSegment(writing, rule, data, at)
  const list = member(data, rule.list)
  let count = 0
  const all = (Array.isArray(list) ? list : []).flatMap((item, index) => {
    const path = within(within(at, rule.list!), String(index))
    if (writing.used.has(`${path}.value`) || count === rule.most) return []
    // an item that lacks what its segment needs is not written, and its members are lost
    const one: Writing = { ...writing, used: new Set(), missing: [] }
    const written = writeSegment(one, rule, item, path)
    if (one.missing.length > 0) return []
    for (const each of one.used) writing.used.add(each)
    count += written.segments.length
    return [written]
  })
  return joined(all)
}

const writeSegment = (writing: Writing, rule: SegmentRule, data: unknown, at: string): Written => {
  const all: Array<WrittenElements> = []
  for (const element of rule.elements) {
    if (element.only === "in" || (element.since !== undefined && writing.version < element.since)) continue
    const written = writeElements(writing, element, data, at)
    if (written !== undefined) all.push(written)
    else if (element.required) writing.missing.push({ member: within(at, element.members[0] ?? ""), reason: `${elementName(rule.segment, element.elements[0]!)} (${element.name}) needs it` })
  }
  const has = (number: number) => all.some(({ rule: { elements }, texts }) => (texts[elements.indexOf(number)] ?? "") !== "")
  const incomplete = rule.incomplete?.(has) ?? []
  const texts: Array<string> = []
  let hasData = false
  for (const element of all) {
    if (element.rule.elements.some((number) => incomplete.includes(number))) continue
    for (const path of element.paths) writing.used.add(path)
    for (const [index, text] of element.texts.entries()) texts[element.rule.elements[index]! - 1] = text
    if (element.rule.members.length > 0 && element.texts.some((text) => text !== "")) hasData = true
  }
  if (!hasData && texts.length === 0) return nothing
  const segment: WrittenSegment = [rule.segment, ...Array.from(texts, (text) => text ?? "")]
  return { segments: [rule.where === undefined ? segment : withCode(segment, rule.where.element, rule.where.is[0]!)], hasData }
}

/** Elements of a segment, and the paths of the members that they carry. */
interface WrittenElements {
  readonly rule: ElementRule
  readonly texts: ReadonlyArray<string>
  readonly paths: ReadonlyArray<string>
}

const writeElements = (writing: Writing, rule: ElementRule, data: unknown, at: string): WrittenElements | undefined => {
  const used = rule.members.map(() => new Set<string>())
  const members = rule.members.map((path, index) => member(data, path, used[index]))
  const texts = rule.codec.write(members, {
    partner: writing.partner,
    version: writing.version,
    look: (path) => member(writing.record, path),
    lose: (index, reason) => void writing.lost.push(...leaves(members[index], within(at, [...used[index] ?? []][0] ?? rule.members[index] ?? "")).map(([path]) => ({ member: path, reason })))
  })
  return texts === undefined ? undefined : { rule, texts, paths: used.flatMap((paths) => [...paths].map((path) => within(at, path))) }
}

const withCode = (segment: WrittenSegment, element: number, code: string): WrittenSegment => {
  const [id, ...elements] = segment
  while (elements.length < element) elements.push("")
  elements[element - 1] = code
  return [id, ...elements]
}
