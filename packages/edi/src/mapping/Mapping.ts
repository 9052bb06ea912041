/**
 * A mapping between a transaction set and members of Waybill's data. It is data: the same rules read, write, and print the table of the
 * documentation.
 */
import type { Codec } from "./Codec.ts"

/** Most rules hold in both directions. */
export type Direction = "in" | "out"

/** Which members an element becomes. */
export interface ElementRule {
  /** Numbers of the elements in their segment: 1 is element 01. */
  readonly elements: ReadonlyArray<number>
  /** Paths of members, such as `location.city`. */
  readonly members: ReadonlyArray<string>
  readonly codec: Codec
  readonly name: string
  /** What the same element of a second segment becomes, where the rule has one member. */
  readonly repeated?: string
  /** The set is refused without it, and is not written without it. */
  readonly required?: true
  readonly only?: Direction
  /** Oldest version that has the elements, such as `005010`. Older sets are written without them. */
  readonly since?: string
  /** The information that the other side loses. */
  readonly lost?: string
}

/** Chooses a segment by the value of an element. */
export interface Where {
  readonly element: number
  readonly is: ReadonlyArray<string>
  /** Only occurrences with the first of the codes that is there are read. */
  readonly prefers?: true
}

/** A segment with the rules of its elements. */
export interface SegmentRule {
  readonly segment: string
  readonly name: string
  /** Each occurrence is one item of the list at this path; paths of elements are then inside the item. */
  readonly list?: string
  /** Occurrences with this code only. The first code is written. */
  readonly where?: Where
  readonly only?: Direction
  readonly elements: ReadonlyArray<ElementRule>
  /** Most segments of the list that are written, as the standard says. */
  readonly most?: number
  /** Syntax notes of the standard: elements that are not written, by those that the segment has. A strict reader refuses a set for one without its partner. */
  readonly incomplete?: (has: (element: number) => boolean) => ReadonlyArray<number>
}

/** A loop of segments. */
export interface LoopRule {
  /** The segment that starts the loop. */
  readonly loop: string
  readonly name: string
  /** Paths of the content are inside this member. */
  readonly member?: string
  /** Each occurrence is one item of the list at this path. */
  readonly list?: string
  /** Each occurrence is a record of its own. */
  readonly each?: true
  readonly where?: Where
  readonly only?: Direction
  readonly content: ReadonlyArray<Rule>
}

/** A rule for a segment or a loop. */
export type Rule = SegmentRule | LoopRule

/** How a transaction set becomes records, and records a set: data, not code. */
export interface Mapping {
  /** ST-01. */
  readonly set: string
  /** GS-01. */
  readonly functionalId: string
  readonly title: string
  readonly rules: ReadonlyArray<Rule>
  /** Members that are never written, with the reason. */
  readonly notWritten: Readonly<Record<string, string>>
}

export const isLoop = (rule: Rule): rule is LoopRule => "loop" in rule

/** The segment that a rule is about. */
export const segmentOf = (rule: Rule): string => isLoop(rule) ? rule.loop : rule.segment
