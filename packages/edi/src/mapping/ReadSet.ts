/** Reads the records of a transaction set by its mapping. Elements without a rule are kept and listed. */
import type { PartnerProfile } from "../partners/PartnerProfile.ts"
import { type EdiFault, elementFaults, excerptOf, maxFaultsPerSet, segmentFaults, setFaults } from "../x12/EdiFault.ts"
import type { TransactionSet } from "../x12/Interchange.ts"
import { elementOf, type Segment } from "../x12/Segment.ts"
import { isWrong, type ReadContext } from "./Codec.ts"
import { type ElementRule, isLoop, type LoopRule, type Mapping } from "./Mapping.ts"
import { addOnce, member, setMember, within as withIndex, withinRule as within } from "./Members.ts"
import { matches, type Node, treeOf } from "./SegmentTree.ts"

/** Where an element stands: `element` 1 is element 01. */
export interface ElementPlace {
  readonly segment: string
  readonly position: number
  readonly element: number
}

/** An element that no rule has a place for. */
export interface KeptElement extends ElementPlace {
  readonly value: string
}

/** An element that was read but looks wrong. */
export interface EdiWarning extends ElementPlace {
  readonly detail: string
}

/** One record, and the segment that it comes from. */
export interface ReadRecord {
  readonly record: Readonly<Record<string, unknown>>
  readonly segment: string
  readonly position: number
  /** Where a member was read, by its path. */
  readonly sources: ReadonlyMap<string, ElementPlace>
}

/** The faults, kept elements and warnings of a set. */
export interface SetFindings {
  /** They refuse the set. */
  readonly faults: ReadonlyArray<EdiFault>
  readonly warnings: ReadonlyArray<EdiWarning>
  readonly kept: ReadonlyArray<KeptElement>
}

/** The records of a set, with its findings. */
export interface ReadSetResult extends SetFindings {
  readonly records: ReadonlyArray<ReadRecord>
}

/** The result of a set with one record. */
export interface ReadOne<A> extends SetFindings {
  /** Absent if faults refuse the set. */
  readonly value: A | undefined
  readonly sources: ReadRecord["sources"]
}

interface Reading {
  readonly set: TransactionSet
  readonly partner: PartnerProfile
  readonly faults: Array<EdiFault>
  readonly warnings: Array<EdiWarning>
  /** Elements with a place, by their segment: bit 1 is element 01. No mapping has an element above 30. */
  readonly placed: Map<Segment, number>
  /** Segments that were read since the last step. */
  sinceStep: number
}

interface Draft {
  readonly record: Record<string, unknown>
  /** Where the record is in the whole one, such as `pickupAddress.0`. Empty for the whole one. */
  readonly path: string
  readonly sources: Map<string, ElementPlace>
  /** Where the record's own members were read, by their path. */
  readonly origins: Map<string, Origin>
}

/** The elements that gave a member its value. */
interface Origin {
  readonly segment: Segment
  readonly elements: ReadonlyArray<number>
}

/** Reads a set by its mapping. Any of its `faults` refuses the set. */
export const readSet = (mapping: Mapping, set: TransactionSet, partner: PartnerProfile): ReadSetResult => finish(readSetInSteps(mapping, set, partner))

/** Work that may pause at every step. */
export type Steps<A> = Generator<void, A>

/** Does all steps without a pause. */
export const finish = <A>(steps: Steps<A>): A => {
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

/** The same in steps of a few milliseconds, because a set may have tens of thousands of segments. */
export function* readSetInSteps(mapping: Mapping, set: TransactionSet, partner: PartnerProfile): Steps<ReadSetResult> {
  const reading: Reading = { set, partner, faults: [], warnings: [], placed: new Map(), sinceStep: 0 }
  const root = yield* treeOf(mapping.rules, set.segments)
  yield
  const count = recordsOf(root)
  if (count > maxRecords || count * (set.segments.length - count) > maxReads) {
    const detail = count > maxRecords
      ? `The set has ${count} records, and at most ${maxRecords} are stored together. Divide it.`
      : `The set has ${count} records with ${set.segments.length} segments. Divide it: what stands around the records is read for each of them.`
    return { records: [], faults: [{ level: "set", code: setFaults.segments, segment: "ST", position: 1, detail }], warnings: [], kept: [] }
  }
  const records = yield* recordsIn(reading, root, [], [])
  if (records.length === 0 && reading.faults.length === 0) {
    const missing = eachLoops(mapping.rules).at(-1) ?? mapping.set
    reading.faults.push({ level: "segment", code: segmentFaults.missing, segment: missing, position: set.segments.length, detail: `The set has no ${missing}, so it says nothing.` })
  }
  return { records, faults: reading.faults.slice(0, maxFaultsPerSet), warnings: reading.warnings, kept: yield* keptIn(reading) }
}

/** Records of a set, which is stored by one call of intake or not at all. */
const maxRecords = 1000

/** Segments that are read for the records of a set, those around them each time; about a second of work. */
const maxReads = 1_000_000

/** Segments of one step. */
const segmentsPerStep = 200

/** Innermost loops that are records; a set without such loops is one. */
const recordsOf = (node: Node): number => hasRecords(node) ? recordLoops(node).reduce((sum, loop) => sum + recordsOf(loop), 0) : 1

const hasRecords = ({ rules }: Node): boolean => rules.some((rule) => isLoop(rule) && rule.each === true)

const recordLoops = ({ loops }: Node): ReadonlyArray<Node> => loops.filter(({ rule }) => rule?.each === true)

const eachLoops = (rules: Mapping["rules"]): ReadonlyArray<string> =>
  rules.flatMap((rule) => isLoop(rule) && rule.each === true ? [rule.loop, ...eachLoops(rule.content)] : [])

/** A record for every innermost loop that is one; what stands around it is part of it. */
function* recordsIn(reading: Reading, node: Node, around: ReadonlyArray<Node>, parts: ReadonlyArray<(draft: Draft) => Steps<void>>): Steps<ReadonlyArray<ReadRecord>> {
  const path = [...around, node]
  const own = [...parts, (draft: Draft) => readNode(reading, node, path, draft, "")]
  if (hasRecords(node)) {
    const records: Array<ReadRecord> = []
    for (const loop of recordLoops(node)) records.push(...yield* recordsIn(reading, loop, path, own))
    return records
  }
  const draft: Draft = { record: {}, path: "", sources: new Map(), origins: new Map() }
  for (const read of own) yield* read(draft)
  const first = node.segments[0]
  return [{ record: draft.record, sources: draft.sources, segment: first?.id ?? "ST", position: first?.position ?? 1 }]
}

function* readNode(reading: Reading, node: Node, around: ReadonlyArray<Node>, draft: Draft, at: string): Steps<void> {
  for (const rule of node.rules) {
    if (rule.only === "out") continue
    if (isLoop(rule)) {
      if (rule.each !== true) yield* readLoops(reading, node, around, rule, draft, at)
      continue
    }
    const segments = (node.segmentsById.get(rule.segment) ?? []).filter((segment) => matches(rule.where, segment))
    if (segments.length === 0 && rule.list === undefined) missing(reading, node, rule.elements, rule.segment)
    for (const segment of segments) {
      if (rule.where !== undefined) place(reading, segment, rule.where.element)
      readElements(reading, { rules: rule.elements, segment, around }, draft, rule.list === undefined ? at : undefined, within(at, rule.list ?? ""))
      reading.sinceStep += 1
      if (reading.sinceStep < segmentsPerStep) continue
      reading.sinceStep = 0
      yield
    }
  }
}

function* readLoops(reading: Reading, node: Node, around: ReadonlyArray<Node>, rule: LoopRule, draft: Draft, at: string): Steps<void> {
  for (const loop of loopsOf(rule, node.loopsByRule.get(rule) ?? [])) {
    if (rule.where !== undefined) place(reading, loop.segments[0]!, rule.where.element)
    const list = within(at, rule.list ?? "")
    const into: Draft = rule.list === undefined ? draft : { record: {}, path: withIndex(draft.path, withIndex(list, String(lengthOf(draft.record, list)))), sources: draft.sources, origins: new Map() }
    yield* readNode(reading, loop, [...around, loop], into, rule.list === undefined ? within(at, rule.member ?? "") : "")
    if (rule.list !== undefined && Object.keys(into.record).length > 0) append(draft.record, list, into.record)
  }
}

/** A member holds one occurrence. Two parties would become an address that neither of them has. */
const loopsOf = ({ list, where }: LoopRule, loops: ReadonlyArray<Node>): ReadonlyArray<Node> => {
  if (loops.length < 2) return loops
  const codeOf = ({ segments }: Node) => where === undefined ? "" : elementOf(segments[0]!, where.element)
  const code = where?.prefers === true ? where.is.find((each) => loops.some((loop) => codeOf(loop) === each)) : undefined
  const preferred = code === undefined ? loops : loops.filter((loop) => codeOf(loop) === code)
  return list === undefined ? preferred.slice(0, 1) : preferred
}

interface Occurrence {
  readonly rules: ReadonlyArray<ElementRule>
  readonly segment: Segment
  readonly around: ReadonlyArray<Node>
}

/** Reads one segment, into the record at `at`, or as an item of the list. */
const readElements = (reading: Reading, { around, rules, segment }: Occurrence, draft: Draft, at: string | undefined, list: string) => {
  const item: Record<string, unknown> = {}
  const { id, position } = segment
  const here = at === undefined ? withIndex(list, String(lengthOf(draft.record, list))) : at
  let current: ElementRule
  let unplaced = 0
  const context: ReadContext = {
    partner: reading.partner,
    group: reading.set.group,
    look: (segmentId, number) => lookAround(around, segmentId, number),
    warn: (index, detail) => warn(reading, { segment: id, position, element: current.elements[index]!, detail }),
    keep: (index) => void (unplaced |= 1 << current.elements[index]!)
  }
  let placed = 0
  for (const rule of rules) {
    if (rule.only === "out") continue
    const { elements } = rule
    if (!elements.some((number) => elementOf(segment, number) !== "")) {
      if (rule.required) fault(reading, { level: "element", code: elementFaults.missing, segment: id, position, element: elements[0]!, detail: `${rule.name} is missing.` })
      continue
    }
    current = rule
    unplaced = 0
    const read = rule.codec.read(elements.map((number) => elementOf(segment, number)), context)
    if (isWrong(read)) {
      const element = elements[read.wrong]!
      fault(reading, { level: "element", code: read.code, segment: id, position, element, value: excerptOf(elementOf(segment, element)), detail: read.detail })
      continue
    }
    const members = at === undefined ? rule.members : freeMembers(draft, rule, segment, at, read)
    if (members === undefined) continue
    const origin: Origin = { segment, elements }
    for (let index = 0; index < read.length; index++) {
      const value = read[index]
      if (value === undefined) continue
      if (at !== undefined) claim(reading, draft, origin, within(at, members[index]!), value)
      setMember(at === undefined ? item : draft.record, at === undefined ? members[index]! : within(at, members[index]!), value)
      draft.sources.set(withIndex(draft.path, at === undefined ? withIndex(here, members[index]!) : within(here, members[index]!)), { segment: id, position, element: elements[Math.min(index, elements.length - 1)]! })
    }
    for (const number of elements) placed |= 1 << number
    placed &= ~unplaced
  }
  if (placed !== 0) reading.placed.set(segment, (reading.placed.get(segment) ?? 0) | placed)
  if (at === undefined && Object.keys(item).length > 0) append(draft.record, list, item)
}

/** Of two segments with the same id that give a member different values, the first is read, and the second if the rule has another member for it. */
const freeMembers = ({ origins, record }: Draft, { members, repeated }: ElementRule, { id }: Segment, at: string, read: ReadonlyArray<unknown>): ReadonlyArray<string> | undefined => {
  const isTaken = (path: string, value: unknown) => value !== undefined && origins.get(path)?.segment.id === id && member(record, path) !== value
  if (!read.some((value, index) => isTaken(within(at, members[index]!), value))) return members
  return repeated === undefined || isTaken(within(at, repeated), read[0]) ? undefined : [repeated]
}

/** Of different segments, the one whose rule comes last is read. The elements of the other have no place then, so they are kept. */
const claim = (reading: Reading, { origins, record }: Draft, origin: Origin, path: string, value: unknown) => {
  // a reference is added to the others
  if (path.endsWith("]")) return
  const replaced = origins.get(path)
  if (replaced !== undefined && replaced.segment !== origin.segment && member(record, path) !== value) for (const element of replaced.elements) displace(reading, replaced.segment, element)
  origins.set(path, origin)
}

const lengthOf = (record: Readonly<Record<string, unknown>>, path: string): number => {
  const items = member(record, path)
  return Array.isArray(items) ? items.length : 0
}

const append = (record: Record<string, unknown>, path: string, item: Readonly<Record<string, unknown>>) => {
  const parts = path.split(".")
  let into = record
  for (const part of parts.slice(0, -1)) into = (into[part] ??= {}) as Record<string, unknown>
  const items = (into[parts.at(-1)!] ??= []) as Array<unknown>
  // a set names the same reference at several places
  if (parts.at(-1) === "references") addOnce(items, item)
  else items.push(item)
}

const missing = (reading: Reading, node: Node, rules: ReadonlyArray<ElementRule>, segment: string) => {
  if (!rules.some(({ required }) => required)) return
  const position = (node.segments.at(-1)?.position ?? 1) + 1
  fault(reading, { level: "segment", code: segmentFaults.missing, segment, position, detail: `The set has no ${segment}.` })
}

const lookAround = (around: ReadonlyArray<Node>, id: string, number: number): string => {
  for (const node of around.toReversed()) {
    const segment = node.segmentsById.get(id)?.[0]
    if (segment !== undefined) return elementOf(segment, number)
  }
  return ""
}

/** Shared parts are read once for each record of the set, and reported once. */
const fault = (reading: Reading, found: EdiFault) => {
  const known = reading.faults.some((each) => each.position === found.position && each.element === found.element && each.code === found.code && each.segment === found.segment)
  if (!known && reading.faults.length < maxFaultsPerSet) reading.faults.push(found)
}

const warn = (reading: Reading, found: EdiWarning) => {
  const known = reading.warnings.some((each) => each.position === found.position && each.element === found.element && each.detail === found.detail)
  if (!known && reading.warnings.length < maxKept) reading.warnings.push(found)
}

const displace = (reading: Reading, segment: Segment, number: number) => void reading.placed.set(segment, (reading.placed.get(segment) ?? 0) & ~(1 << number))

const place = (reading: Reading, segment: Segment, number: number) => void reading.placed.set(segment, (reading.placed.get(segment) ?? 0) | 1 << number)

/** Most elements that a result lists; the file itself has them all. */
export const maxKept = 500

/** Elements of one step: a segment may have tens of thousands. */
const elementsPerStep = 20_000

function* keptIn({ placed, set }: Reading): Steps<ReadonlyArray<KeptElement>> {
  const kept: Array<KeptElement> = []
  let sinceStep = 0
  for (const segment of set.segments) {
    if (segment.id === "ST" || segment.id === "SE") continue
    sinceStep += segment.elements.length
    if (sinceStep > elementsPerStep) {
      sinceStep = 0
      yield
    }
    const mask = placed.get(segment) ?? 0
    for (const [index, value] of segment.elements.entries()) {
      if (value === "" || (index < 30 && (mask >> index + 1 & 1) === 1)) continue
      kept.push({ segment: segment.id, position: segment.position, element: index + 1, value })
      if (kept.length >= maxKept) return kept
    }
  }
  return kept
}
