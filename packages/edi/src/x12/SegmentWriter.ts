/** Writes segments and envelopes. Values that contain a delimiter need a release character; without one they are refused. */
import { declared, type Delimiters, released, reserved, usualDelimiters } from "./Delimiters.ts"
import { excerptOf } from "./EdiFault.ts"
import type { Party } from "./Interchange.ts"

/** A segment to write. A list is a composite element. */
export type WrittenSegment = readonly [id: string, ...elements: ReadonlyArray<string | ReadonlyArray<string>>]

/** A value contains a delimiter, and the partner's delimiters have no release character. */
export class DelimiterInValue extends Error {
  readonly segment: string
  readonly element: number

  constructor(segment: string, element: number, value: string) {
    super(`${segment}-${String(element).padStart(2, "0")} cannot be written: ${JSON.stringify(value.slice(0, 40))} contains a delimiter. Choose other delimiters in the partner profile, or a release character.`)
    this.segment = segment
    this.element = element
  }
}

/** Writes one segment with its terminator. Empty elements at its end are left out. */
export const writeSegment = ([id, ...elements]: WrittenSegment, delimiters: Delimiters): string => {
  const texts = elements.map((element, index) =>
    (typeof element === "string" ? [element] : element).map((part) => {
      const text = released(part, delimiters)
      if (text === undefined) throw new DelimiterInValue(id, index + 1, part)
      return text
    }).join(delimiters.component))
  while (texts.length > 0 && texts.at(-1) === "") texts.pop()
  return [id, ...texts].join(delimiters.element) + delimiters.segment
}

/** A segment of an acknowledgement. It repeats what the partner wrote between other delimiters, so a character that would divide is a space. */
export const echoed = ([id, ...elements]: WrittenSegment, delimiters: Delimiters): WrittenSegment => {
  const dividing = delimiters.release === undefined ? reserved(delimiters) : []
  const clean = (text: string) => {
    const cut = excerptOf(text).replace(/[^ -~]/gu, " ")
    return dividing.some((each) => cut.includes(each)) ? Array.from(cut, (character) => dividing.includes(character) ? " " : character).join("") : cut
  }
  return [id, ...elements.map((element) => typeof element === "string" ? clean(element) : element.map(clean))]
}

/** Sender, receiver and numbers of an interchange. */
export interface EnvelopeOptions {
  readonly sender: Party
  readonly receiver: Party
  /** GS-02 and GS-03; the ids of the interchange if left out. */
  readonly groupSender?: string | undefined
  readonly groupReceiver?: string | undefined
  readonly delimiters?: Delimiters | undefined
  /** GS-08, such as `004010`. ISA-12 follows from it. */
  readonly version: string
  readonly isTest?: boolean | undefined
  readonly wantsAcknowledgement?: boolean | undefined
  /** Control segments before the first group, such as TA1. */
  readonly controls?: ReadonlyArray<WrittenSegment> | undefined
  /** A line break after every segment, for people. */
  readonly lines?: boolean | undefined
}

/** A set to write. */
export interface WrittenSet {
  /** ST-01. */
  readonly id: string
  /** Between ST and SE. */
  readonly segments: ReadonlyArray<WrittenSegment>
}

/** A group of sets to write. */
export interface WrittenGroup {
  /** GS-01. */
  readonly functionalId: string
  readonly controlNumber: number
  readonly sets: Iterable<WrittenSet>
}

/** Writes an interchange in pieces, one for each segment. */
export function* writeInterchange(options: EnvelopeOptions, controlNumber: number, at: Date, groups: Iterable<WrittenGroup>): Generator<string> {
  const delimiters = declared(options.delimiters ?? usualDelimiters, options.version)
  const repeats = options.version >= "004020"
  const date = at.toISOString().slice(0, 10).replaceAll("-", "")
  const time = at.toISOString().slice(11, 16).replace(":", "")
  const number = String(controlNumber).padStart(9, "0")
  const write = (segment: WrittenSegment) => writeSegment(segment, delimiters) + (options.lines === true && delimiters.segment !== "\n" ? "\n" : "")
  const isa = [
    "ISA", "00", " ".repeat(10), "00", " ".repeat(10), options.sender.qualifier.padEnd(2), options.sender.id.padEnd(15), options.receiver.qualifier.padEnd(2), options.receiver.id.padEnd(15),
    date.slice(2), time, repeats ? delimiters.repetition! : "U", options.version.slice(0, 5), number,
    options.wantsAcknowledgement === true ? "1" : "0", options.isTest === true ? "T" : "P", delimiters.component
  ]
  yield isa.join(delimiters.element) + delimiters.segment + (options.lines === true && delimiters.segment !== "\n" ? "\n" : "")
  if (delimiters.release !== undefined) yield `ISX${delimiters.element}${delimiters.release}${delimiters.segment}`
  for (const control of options.controls ?? []) yield write(control)
  let groupCount = 0
  for (const { controlNumber: groupNumber, functionalId, sets } of groups) {
    groupCount += 1
    let setCount = 0
    yield write(["GS", functionalId, options.groupSender ?? options.sender.id, options.groupReceiver ?? options.receiver.id, date, time, String(groupNumber), "X", options.version])
    for (const { id, segments } of sets) {
      setCount += 1
      const setNumber = String(setCount).padStart(4, "0")
      yield write(["ST", id, setNumber])
      for (const segment of segments) yield write(segment)
      yield write(["SE", String(segments.length + 2), setNumber])
    }
    yield write(["GE", String(setCount), String(groupNumber)])
  }
  yield write(["IEA", String(groupCount), number])
}
