/**
 * Acknowledgements of files that were read: 997, or 999 for partners with version 5010 and newer, and TA1 for envelopes. They say what was accepted and
 * name the segment and element of what was not.
 */
import { type EdiFault, excerptOf, interchangeFaults, segmentFaults, setFaults } from "./EdiFault.ts"
import type { Group, Interchange, TransactionSet } from "./Interchange.ts"
import type { WrittenSegment, WrittenSet } from "./SegmentWriter.ts"

/** The set that acknowledges: functional (997) or implementation (999). */
export type AcknowledgementKind = "997" | "999"

/** Sets of a file that its acknowledgements name one by one. Beyond half of them they name refused sets only, and then count. */
export const maxNamedSets = 10_000

/** Segments of a file's acknowledgements. Beyond them refused sets are named without the places of their faults. */
const maxSegments = 20_000

/** How much the acknowledgements of a file have named so far. A file may have any number of groups. */
export interface NamedSoFar {
  sets: number
  segments: number
}

/** Longest control number. A longer slice of a text would keep the whole text in memory. */
const longestControlNumber = 9

/** Collects the outcome of one group, and writes its acknowledgement. */
export class GroupAcknowledgement {
  readonly #group: Group
  readonly #kind: AcknowledgementKind
  readonly #named: NamedSoFar
  readonly #sets: Array<WrittenSegment> = []
  #received = 0
  #accepted = 0

  /** `named`: of the groups of a file before this one. */
  constructor(group: Group, kind: AcknowledgementKind, named: NamedSoFar = { sets: 0, segments: 0 }) {
    this.#group = group
    this.#kind = kind
    this.#named = named
  }

  get received(): number {
    return this.#received
  }

  /** Faults refuse the set. */
  add(set: TransactionSet, faults: ReadonlyArray<EdiFault>) {
    this.#received += 1
    if (faults.length === 0) this.#accepted += 1
    const named = this.#named
    if (named.sets >= maxNamedSets || (faults.length === 0 && named.sets >= maxNamedSets / 2)) return
    const segments: ReadonlyArray<WrittenSegment> = [
      ["AK2", set.id.slice(0, 3), set.controlNumber.slice(0, longestControlNumber)],
      ...named.segments < maxSegments ? this.#errors(faults) : [],
      [this.#kind === "997" ? "AK5" : "IK5", faults.length === 0 ? "A" : "R", ...codesOf(faults)]
    ]
    named.sets += 1
    named.segments += segments.length
    this.#sets.push(...segments)
  }

  /** Returns the acknowledgement at the end of the group. */
  write(included: string, faults: ReadonlyArray<EdiFault>): WrittenSet {
    const { version } = this.#group
    const functionalId = this.#group.functionalId.slice(0, 2)
    const controlNumber = this.#group.controlNumber.slice(0, longestControlNumber)
    const verdict = this.#accepted < this.#received ? (this.#accepted === 0 ? "R" : "P") : faults.length > 0 ? "E" : "A"
    const codes = [...new Set(faults.map(({ code }) => code))].slice(0, 5)
    return {
      id: this.#kind,
      segments: [
        this.#kind === "997" ? ["AK1", functionalId, controlNumber] : ["AK1", functionalId, controlNumber, version],
        ...this.#sets,
        ["AK9", verdict, /^\d{1,6}$/u.test(included) ? included : String(this.#received), String(this.#received), String(this.#accepted), ...codes]
      ]
    }
  }

  /** AK3 and AK4, or IK3 and IK4: each segment once, with its elements. */
  #errors(faults: ReadonlyArray<EdiFault>): ReadonlyArray<WrittenSegment> {
    const [ofSegment, ofElement] = this.#kind === "997" ? ["AK3", "AK4"] : ["IK3", "IK4"]
    const placed = faults.filter(({ level, position }) => (level === "segment" || level === "element") && position !== undefined)
    const positions = [...new Set(placed.map(({ position }) => position))]
    return positions.flatMap((at): ReadonlyArray<WrittenSegment> => {
      const found = placed.filter(({ position }) => position === at)
      const { position, segment } = found[0]!
      const own = found.find(({ level }) => level === "segment")
      return [
        [ofSegment, segment, String(position), "", own?.code ?? segmentFaults.elements],
        ...found.filter(({ element }) => element !== undefined).map(({ code, element, value }): WrittenSegment => [ofElement, String(element), "", code, plain(value ?? "")])
      ]
    })
  }
}

/** Up to five codes of element 718. */
const codesOf = (faults: ReadonlyArray<EdiFault>): ReadonlyArray<string> =>
  [...new Set(faults.map(({ code, level }) => level === "set" ? code : setFaults.segments))].slice(0, 5)

/** The copy of a wrong value has only characters that every partner can read, whatever its delimiters. */
const plain = (value: string): string => excerptOf(value).replace(/[^A-Za-z0-9 .,/-]/gu, " ")

/** Faults of ISA that refuse the whole interchange. */
const refusals: ReadonlySet<string> = new Set([interchangeFaults.sender, interchangeFaults.receiver, interchangeFaults.controlNumberValue, interchangeFaults.testIndicator])

/** TA1: the outcome of an envelope. */
export const interchangeAcknowledgement = ({ controlNumber, date, time }: Interchange, faults: ReadonlyArray<EdiFault>): WrittenSegment => {
  const code = faults[0]?.code ?? "000"
  return ["TA1", controlNumber, date, time, faults.length === 0 ? "A" : refusals.has(code) ? "R" : "E", code]
}
