/**
 * Reads interchanges from text or bytes in pieces of any size. It holds one transaction set at a time. A set that is wrong refuses itself; the
 * sets around it are read. Control numbers and counts of every envelope are checked.
 */
import { type Delimiters, usualDelimiters } from "./Delimiters.ts"
import { type EdiFault, elementFaults, excerptOf, groupFaults, interchangeFaults, maxFaultsPerSet, setFaults } from "./EdiFault.ts"
import type { Encoding } from "./Encoding.ts"
import type { Group, Interchange, InterchangeVerdict, TransactionSet } from "./Interchange.ts"
import { elementOf, type Segment } from "./Segment.ts"
import { maxElements, type RawSegment, SegmentReader } from "./SegmentReader.ts"

/** What the reader found, in the order of the file. */
export type X12Event =
  | { readonly kind: "interchange"; readonly interchange: Interchange }
  | { readonly kind: "group"; readonly group: Group; readonly interchange: Interchange }
  /** A set, refused if it has faults. Its segments are absent if it was too large to hold. */
  | { readonly kind: "set"; readonly set: TransactionSet; readonly faults: ReadonlyArray<EdiFault> }
  | { readonly kind: "group-end"; readonly group: Group; readonly interchange: Interchange; readonly included: string; readonly faults: ReadonlyArray<EdiFault> }
  /** `verdicts`: its TA1, the first thousand. `isAcknowledgement`: it has TA1 and no group. */
  | { readonly kind: "interchange-end"; readonly interchange: Interchange; readonly faults: ReadonlyArray<EdiFault>; readonly verdicts: ReadonlyArray<InterchangeVerdict>; readonly isAcknowledgement: boolean }
  /** Text that belongs to no interchange. */
  | { readonly kind: "unreadable"; readonly fault: EdiFault }

/** Encoding and limits of a reader. */
export interface ReaderOptions {
  /** How bytes are text. Default UTF-8, which contains ASCII. */
  readonly encoding?: Encoding | undefined
  readonly maxSegmentLength?: number | undefined
  /** Of one transaction set. */
  readonly maxSegments?: number | undefined
  readonly maxCharacters?: number | undefined
}

interface OpenInterchange {
  readonly interchange: Interchange
  groups: number
  readonly faults: Array<EdiFault>
  readonly verdicts: Array<InterchangeVerdict>
}

interface OpenGroup {
  readonly group: Group
  readonly isReadable: boolean
  sets: number
  readonly faults: Array<EdiFault>
  readonly controlNumbers: Set<string>
}

interface OpenSet {
  readonly id: string
  readonly controlNumber: string
  segments: Array<Segment>
  count: number
  characters: number
  readonly faults: Array<EdiFault>
}

/** Of ST-02, as the standard says. */
const longestControlNumber = 9

/** Control numbers of a group that are remembered to find repeated ones; the limit bounds the memory of one group. */
const maxRememberedSets = 100_000

/** Of one interchange. */
const maxVerdicts = 1_000

/** Reads interchanges of any size piece by piece. Never throws for what it reads: faults are events. */
export class InterchangeReader {
  readonly #segments: SegmentReader
  readonly #decoder: TextDecoder
  readonly #maxSegments: number
  readonly #maxCharacters: number
  #interchange: OpenInterchange | undefined
  #group: OpenGroup | undefined
  #set: OpenSet | undefined

  constructor(options: ReaderOptions = {}) {
    this.#segments = new SegmentReader({ maxSegmentLength: options.maxSegmentLength ?? 65_536 })
    this.#decoder = new TextDecoder(options.encoding ?? "utf-8")
    this.#maxSegments = options.maxSegments ?? 50_000
    this.#maxCharacters = options.maxCharacters ?? 4 * 1024 * 1024
  }

  *push(chunk: string | Uint8Array): Generator<X12Event> {
    for (const token of this.#segments.push(typeof chunk === "string" ? chunk : this.#decoder.decode(chunk, { stream: true }))) yield* this.#take(token)
  }

  /** Ends the file: what is still open is incomplete. */
  *end(): Generator<X12Event> {
    for (const token of this.#segments.push(this.#decoder.decode())) yield* this.#take(token)
    for (const token of this.#segments.end()) yield* this.#take(token)
    yield* this.#closeInterchange(undefined)
  }

  *#take(token: RawSegment | { readonly fault: EdiFault }): Generator<X12Event> {
    if ("fault" in token) {
      this.#interchange?.faults.push(token.fault)
      if (this.#interchange === undefined) yield { kind: "unreadable", fault: token.fault }
      else yield* this.#closeInterchange(undefined)
      return
    }
    switch (token.id) {
      case "ISA":
        yield* this.#closeInterchange(undefined)
        this.#interchange = { interchange: interchangeOf(token), groups: 0, faults: [], verdicts: [] }
        return yield { kind: "interchange", interchange: this.#interchange.interchange }
      case "GS":
        return yield* this.#openGroup(token)
      case "ST":
        return yield* this.#openSet(token)
      case "SE":
        return yield* this.#closeSet(token)
      case "GE":
        return yield* this.#closeGroup(token)
      case "IEA":
        return yield* this.#closeInterchange(token)
      default:
        return this.#addSegment({ id: token.id, elements: this.#interchange === undefined ? token.elements : withPrintableSeparators(token.elements, this.#interchange.interchange.delimiters) })
    }
  }

  #addSegment({ elements, id }: RawSegment) {
    if (this.#set === undefined) {
      if (id === "TA1" && this.#interchange !== undefined && this.#interchange.verdicts.length < maxVerdicts) this.#interchange.verdicts.push(verdictOf(elements))
      // ISX, ISB, ISE and TA1 are control segments of the interchange
      if (!/^(?:ISX|ISB|ISE|TA1|TA3)$/u.test(id)) this.#note({ level: "interchange", code: interchangeFaults.structure, segment: id.slice(0, 3), detail: `Segment ${id.slice(0, 10)} stands outside of a transaction set.` })
      return
    }
    this.#append(this.#set, id, elements)
  }

  #append(set: OpenSet, id: string, elements: ReadonlyArray<string>) {
    set.count += 1
    if (set.count > this.#maxSegments || set.characters > this.#maxCharacters) {
      if (set.segments.length > 0) add(set.faults, { level: "set", code: setFaults.segments, segment: "ST", detail: `The set has more than ${this.#maxSegments} segments or ${this.#maxCharacters} characters.` })
      set.segments = []
      return
    }
    // separators count, because empty elements take memory too
    set.characters += id.length + elements.length
    for (const element of elements) set.characters += element.length
    set.segments.push({ id, elements, position: set.count })
    if (!/^[A-Z][A-Z0-9]{1,2}$/u.test(id)) {
      add(set.faults, { level: "segment", code: "1", segment: id.slice(0, 3), position: set.count, detail: `${JSON.stringify(id.slice(0, 10))} is not the id of a segment.` })
    }
    if (elements.length > maxElements) {
      add(set.faults, { level: "element", code: elementFaults.tooMany, segment: id, position: set.count, element: maxElements + 1, detail: `The segment has more than ${maxElements} elements.` })
    }
    const wrong = elements.findIndex((element) => invalidCharacter.test(element))
    if (wrong !== -1) {
      const detail = "The element has a control character, or bytes that are not in the encoding of the file."
      add(set.faults, { level: "element", code: elementFaults.character, segment: id, position: set.count, element: wrong + 1, detail })
    }
  }

  *#openGroup(token: RawSegment): Generator<X12Event> {
    if (this.#interchange === undefined) return
    yield* this.#closeGroup(undefined)
    this.#interchange.groups += 1
    this.#group = { group: groupOf(token), isReadable: !hasControlCharacter(token.elements), sets: 0, faults: [], controlNumbers: new Set() }
    yield { kind: "group", group: this.#group.group, interchange: this.#interchange.interchange }
  }

  *#openSet({ elements }: RawSegment): Generator<X12Event> {
    yield* this.#closeSet(undefined)
    if (this.#group === undefined) return this.#note({ level: "interchange", code: interchangeFaults.structure, segment: "ST", detail: "A transaction set stands outside of a functional group." })
    const set: OpenSet = { id: excerptOf(elements[0] ?? ""), controlNumber: elements[1] ?? "", segments: [], count: 0, characters: 0, faults: [] }
    this.#group.sets += 1
    this.#set = set
    this.#append(set, "ST", elements)
    const { controlNumbers, isReadable } = this.#group
    if (!isReadable) add(set.faults, { level: "set", code: setFaults.segments, segment: "GS", detail: "GS has a control character, or bytes that are not in the encoding of the file." })
    if (!/^\d{3}$/u.test(set.id)) add(set.faults, { level: "set", code: setFaults.identifier, segment: "ST", position: 1, element: 1, detail: "ST-01 names the transaction set by three digits." })
    if (set.controlNumber === "") add(set.faults, { level: "set", code: setFaults.noControlNumber, segment: "ST", position: 1, element: 2, detail: "ST-02 has no control number." })
    else if (set.controlNumber.length > longestControlNumber) {
      return add(set.faults, { level: "set", code: setFaults.noControlNumber, segment: "ST", position: 1, element: 2, detail: `ST-02 has more than ${longestControlNumber} characters.` })
    } else if (controlNumbers.has(set.controlNumber)) {
      add(set.faults, { level: "set", code: setFaults.repeated, segment: "ST", position: 1, element: 2, detail: `Control number ${set.controlNumber} is repeated in the group.` })
    }
    if (controlNumbers.size < maxRememberedSets) controlNumbers.add(set.controlNumber)
  }

  *#closeSet(trailer: RawSegment | undefined): Generator<X12Event> {
    const set = this.#set
    if (set === undefined || this.#group === undefined || this.#interchange === undefined) {
      if (trailer !== undefined) this.#note({ level: "interchange", code: interchangeFaults.structure, segment: "SE", detail: "SE ends no transaction set." })
      return
    }
    if (trailer !== undefined) this.#append(set, "SE", trailer.elements)
    this.#set = undefined
    const { controlNumber, count, faults, id, segments } = set
    for (const fault of trailerFaults("SE", trailer, { count, controlNumber, position: count })) add(faults, fault)
    const read: TransactionSet = { id, controlNumber, segments, index: this.#group.sets, group: this.#group.group, interchange: this.#interchange.interchange }
    yield { kind: "set", set: read, faults }
  }

  *#closeGroup(trailer: RawSegment | undefined): Generator<X12Event> {
    yield* this.#closeSet(undefined)
    const open = this.#group
    if (open === undefined || this.#interchange === undefined) return
    const { faults, group, sets } = open
    faults.push(...trailerFaults("GE", trailer, { count: sets, controlNumber: group.controlNumber }))
    this.#group = undefined
    yield { kind: "group-end", group, interchange: this.#interchange.interchange, included: excerptOf(trailer?.elements[0] ?? "") || String(sets), faults }
  }

  *#closeInterchange(trailer: RawSegment | undefined): Generator<X12Event> {
    yield* this.#closeGroup(undefined)
    const open = this.#interchange
    if (open === undefined) return
    const { faults, groups, interchange, verdicts } = open
    faults.push(...trailerFaults("IEA", trailer, { count: groups, controlNumber: interchange.controlNumber }))
    this.#interchange = undefined
    yield { kind: "interchange-end", interchange, faults, verdicts, isAcknowledgement: verdicts.length > 0 && groups === 0 }
  }

  #note(fault: EdiFault) {
    if (this.#interchange !== undefined) add(this.#interchange.faults, fault)
  }
}

const invalidCharacter = /[\u0000-\u001f\ufffd]/u

/** Whether an element has a character that X12 does not allow. */
export const hasControlCharacter = (elements: ReadonlyArray<string>): boolean => elements.some((element) => invalidCharacter.test(element))

/** Composite elements stay one text, and a control character that divides their components is no character of it. */
const withPrintableSeparators = (elements: ReadonlyArray<string>, { component, repetition }: Delimiters): ReadonlyArray<string> => {
  const printable = (texts: ReadonlyArray<string>, separator: string, printed: string) =>
    invalidCharacter.test(separator) ? texts.map((text) => text.replaceAll(separator, printed)) : texts
  return printable(printable(elements, component, usualDelimiters.component), repetition ?? "", usualDelimiters.repetition!)
}

const add = (faults: Array<EdiFault>, fault: EdiFault) => {
  if (faults.length < maxFaultsPerSet) faults.push(fault)
}

/** Trailers of the three envelopes, with the codes of their faults. */
const trailers = {
  SE: { level: "set", codes: setFaults, counted: "segments", header: "ST-02" },
  GE: { level: "group", codes: groupFaults, counted: "sets", header: "GS-06" },
  IEA: { level: "interchange", codes: { ...interchangeFaults, noTrailer: interchangeFaults.endOfFile, count: interchangeFaults.groups }, counted: "groups", header: "ISA-13" }
} as const

interface Enclosed {
  readonly count: number
  readonly controlNumber: string
  readonly position?: number
}

/** A trailer counts what stands before it, and repeats the control number of its header. */
const trailerFaults = (segment: keyof typeof trailers, trailer: RawSegment | undefined, { controlNumber, count, ...place }: Enclosed): ReadonlyArray<EdiFault> => {
  const { codes, counted, header, level } = trailers[segment]
  if (trailer === undefined) return [{ level, code: codes.noTrailer, segment, detail: `The ${level} has no ${segment}.` }]
  const [written = "", repeated = ""] = trailer.elements.map(excerptOf)
  const fault = (element: number, code: string, value: string, detail: string): EdiFault => ({ level, code, segment, ...place, element, value, detail })
  return [
    ...Number(written) !== count || written === "" ? [fault(1, codes.count, written, `${segment}-01 counts ${written || "no"} ${counted}, the ${level} has ${count}.`)] : [],
    ...repeated !== controlNumber ? [fault(2, codes.controlNumber, repeated, `${segment}-02 is not the control number ${controlNumber} of ${header}.`)] : []
  ]
}

// a longer slice of a text would keep the whole text in memory
const verdictOf = ([interchange = "", , , verdict = "", code = ""]: ReadonlyArray<string>): InterchangeVerdict =>
  ({ interchange: interchange.slice(0, longestControlNumber), verdict: verdict.slice(0, 1), code: code.slice(0, 3) })

const interchangeOf = ({ delimiters, elements, id }: RawSegment): Interchange => {
  const isa: Segment = { id, elements, position: 0 }
  const text = (number: number) => elementOf(isa, number).trim()
  return {
    sender: { qualifier: text(5), id: text(6) },
    receiver: { qualifier: text(7), id: text(8) },
    date: text(9),
    time: text(10),
    version: text(12),
    controlNumber: text(13),
    wantsAcknowledgement: text(14) === "1",
    isTest: text(15) !== "P",
    delimiters: delimiters!
  }
}

const groupOf = ({ elements }: RawSegment): Group => {
  const [functionalId = "", sender = "", receiver = "", date = "", time = "", controlNumber = "", , version = ""] = elements
  return { functionalId, sender: sender.trim(), receiver: receiver.trim(), date, time, controlNumber, version: version.trim() }
}
