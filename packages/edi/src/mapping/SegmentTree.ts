/** Sorts the segments of a set into the loops of its mapping. */
import { memoize } from "effect/Function"
import type { Segment } from "../x12/Segment.ts"
import { elementOf } from "../x12/Segment.ts"
import { isLoop, type LoopRule, type Rule, segmentOf, type Where } from "./Mapping.ts"

/** An occurrence of a loop, or the whole set. `rules` is empty for a loop that the mapping has no place for. */
export interface Node {
  readonly rule: LoopRule | undefined
  readonly rules: ReadonlyArray<Rule>
  readonly segments: Array<Segment>
  readonly loops: Array<Node>
  /** The same segments by their id, and the same loops by their rule: a set may have tens of thousands. */
  readonly segmentsById: Map<string, Array<Segment>>
  readonly loopsByRule: Map<LoopRule, Array<Node>>
  /** Ids that belong to this loop. */
  readonly ids: ReadonlySet<string>
  /** The segment that starts the loop; a second one starts another. */
  readonly start: string | undefined
}

export const matches = (where: Where | undefined, segment: Segment): boolean => where === undefined || where.is.includes(elementOf(segment, where.element))

/** Segments that belong to a party's loop, also to one of a party without a place. */
const partySegments = new Set(["N2", "N3", "N4", "G61", "G62", "PER", "L11"])

const nodeOf = (rule: LoopRule | undefined, rules: ReadonlyArray<Rule>, segments: Array<Segment>, ids = idsOf(rules)): Node => ({
  rule,
  rules,
  segments,
  loops: [],
  segmentsById: new Map(segments.map((segment) => [segment.id, [segment]])),
  loopsByRule: new Map(),
  ids: segments[0]?.id === "N1" ? partyIdsOf(rules) : ids,
  start: segments[0]?.id
})

// a set may have tens of thousands of loops, and a mapping has few rules
const idsOf = memoize((rules: ReadonlyArray<Rule>): ReadonlySet<string> => new Set(rules.map(segmentOf)))

const partyIdsOf = memoize((rules: ReadonlyArray<Rule>): ReadonlySet<string> => new Set([...rules.map(segmentOf), ...partySegments]))

const noRules: ReadonlyArray<Rule> = []

/** A loop without a place has the segments of those like it: the remark of a stop of another kind is none of the order. */
const idsLike = (loops: ReadonlyArray<LoopRule>): ReadonlySet<string> => new Set(loops.flatMap(({ content }) => content.map(segmentOf)))

/** Segments of one step. */
const segmentsPerStep = 500

/**
 * A segment belongs to the innermost open loop that knows its id; a segment that none knows stays in the innermost one. `ST` and `SE` are left
 * out. In steps, because a set may have tens of thousands of segments.
 */
export function* treeOf(rules: ReadonlyArray<Rule>, segments: ReadonlyArray<Segment>): Generator<void, Node> {
  const root = nodeOf(undefined, rules, [])
  const open: Array<Node> = [root]
  for (const [index, segment] of segments.entries()) {
    if (index % segmentsPerStep === segmentsPerStep - 1) yield
    if (segment.id === "ST" || segment.id === "SE") continue
    const at = open.findLastIndex((node) => node.ids.has(segment.id) && node.start !== segment.id)
    const node = open[at === -1 ? open.length - 1 : at]!
    if (at !== -1) open.length = at + 1
    const candidates = node.rules.filter((rule): rule is LoopRule => isLoop(rule) && rule.loop === segment.id)
    if (candidates.length === 0) {
      node.segments.push(segment)
      push(node.segmentsById, segment.id, segment)
      continue
    }
    const rule = candidates.find(({ where }) => matches(where, segment))
    const loop = rule === undefined ? nodeOf(rule, noRules, [segment], idsLike(candidates)) : nodeOf(rule, rule.content, [segment])
    node.loops.push(loop)
    if (rule !== undefined) push(node.loopsByRule, rule, loop)
    open.push(loop)
  }
  return root
}

const push = <Key, Item>(lists: Map<Key, Array<Item>>, key: Key, item: Item) => {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [item])
  else list.push(item)
}
