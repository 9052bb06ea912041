/**
 * Divides text into segments, in pieces of any size, with memory for one segment only. Delimiters come from ISA. Files that were wrapped at a
 * column, so that line breaks stand anywhere, are read like others.
 */
import { type Delimiters, divide, unreleased } from "./Delimiters.ts"
import { type EdiFault, interchangeFaults } from "./EdiFault.ts"

export interface RawSegment {
  readonly id: string
  readonly elements: ReadonlyArray<string>
  /** Of ISA: what the interchange declares. */
  readonly delimiters?: Delimiters
}

/** Elements of a segment; no segment of the standard has a hundred. A segment with more has one beyond them here. */
export const maxElements = 1000

type Token = RawSegment | { readonly fault: EdiFault }

/** The length of ISA without its terminator; every element of it has a fixed length. */
const isaLength = 105

/** Of text in which ISA has to be complete, also where every character of it stands on a line of its own. */
const longestIsa = 1_000

/** Ends of the 16 elements of ISA: the separators stand there. */
const isaSeparators = [3, 6, 17, 20, 31, 34, 50, 53, 69, 76, 81, 83, 89, 99, 101, 103]

const lineBreaks = /[\r\n]+/gu

/** Whether a character can divide: letters, digits and spaces are data. */
const canDivide = (character: string | undefined): character is string => character !== undefined && !/[A-Za-z0-9 ]/u.test(character)

export class SegmentReader {
  readonly #maxLength: number
  #delimiters: Delimiters | undefined
  #rest = ""
  #searched = 0
  /** Beginning of text that was skipped to find ISA. */
  #skipped = ""
  /** Line breaks are layout, unless one of them ends segments. */
  #breaks = true

  constructor(options: { readonly maxSegmentLength: number }) {
    this.#maxLength = options.maxSegmentLength
  }

  /** Returns the segments that the text completes. */
  *push(text: string): Generator<Token> {
    this.#rest += text
    for (;;) {
      const token = this.#delimiters === undefined ? this.#readIsa(false) : this.#readSegment(this.#delimiters)
      if (token === undefined) return
      yield token
    }
  }

  /** Returns what is left at the end of the file: a fault if it is not layout. */
  *end(): Generator<Token> {
    if (this.#delimiters === undefined) {
      const token = this.#readIsa(true)
      if (token !== undefined) yield token
      yield* this.push("")
    }
    const rest = this.#rest.replace(lineBreaks, "").replaceAll("\u001a", "").trim()
    if (rest !== "") yield { fault: interchangeFault(interchangeFaults.endOfFile, `The file ends inside a segment: ${quoted(rest)}.`) }
    this.#reset("")
  }

  #reset(rest: string) {
    this.#delimiters = undefined
    this.#rest = rest
    this.#searched = 0
    this.#skipped = ""
    this.#breaks = true
  }

  /** Reads ISA at the start of the remaining text, and skips everything before it. */
  #readIsa(atEnd: boolean): Token | undefined {
    if (this.#skipped !== "" || !this.#rest.startsWith("ISA")) {
      const fault = this.#skipToIsa(atEnd)
      if (fault !== undefined || !this.#rest.startsWith("ISA")) return fault
    }
    const text = this.#rest
    const { at, plain } = withoutBreaks(text.slice(0, longestIsa))
    // ISA, its terminator, and the beginning of the next segment, which says whether a line break is the terminator
    if (plain.length < isaLength && text.length >= longestIsa) {
      this.#rest = text.slice(3)
      return { fault: interchangeFault(interchangeFaults.structure, `ISA is not complete within ${longestIsa} characters.`) }
    }
    if (plain.length < isaLength || (!atEnd && text.length < at + 3)) return undefined
    const separator = plain[3]
    const wrong = isaSeparators.findIndex((index) => plain[index] !== separator)
    if (!canDivide(separator) || wrong !== -1) {
      this.#rest = text.slice(3)
      return { fault: { ...interchangeFault(interchangeFaults.structure, `ISA has elements of fixed length, and element ${Math.max(1, wrong)} has another length.`), element: Math.max(1, wrong) } }
    }
    const { next, terminator } = terminatorAt(text, at)
    const elements = plain.slice(4).split(separator)
    const repetition = elements[10]
    const component = elements[15]
    if (!canDivide(terminator) || !canDivide(component) || terminator === separator || component === separator || component === terminator) {
      this.#rest = text.slice(3)
      return { fault: { ...interchangeFault(interchangeFaults.structure, "ISA declares delimiters that do not differ, or that are letters, digits or spaces."), element: 16 } }
    }
    const delimiters: Delimiters = {
      element: separator,
      component,
      segment: terminator,
      ...canDivide(repetition) && repetition !== separator ? { repetition } : {}
    }
    this.#delimiters = delimiters
    this.#breaks = terminator !== "\n" && terminator !== "\r"
    this.#rest = text.slice(next)
    this.#searched = 0
    return { id: "ISA", elements, delimiters }
  }

  /** Text before ISA is one fault, however it arrives. */
  #skipToIsa(atEnd: boolean): Token | undefined {
    const next = this.#rest.indexOf("ISA")
    // the last two characters may be the beginning of ISA
    const kept = next === -1 ? (atEnd ? this.#rest.length : Math.max(0, this.#rest.length - 2)) : next
    if (this.#skipped.length <= mostQuoted) this.#skipped = (this.#skipped + this.#rest.slice(0, kept)).trimStart()
    this.#rest = this.#rest.slice(kept)
    if (next === -1 && !atEnd) return undefined
    const skipped = this.#skipped
    this.#skipped = ""
    return isLayout(skipped) ? undefined : { fault: interchangeFault(interchangeFaults.structure, `An interchange starts with ISA. This text was skipped: ${quoted(skipped)}.`) }
  }

  #readSegment(delimiters: Delimiters): Token | undefined {
    for (;;) {
      const end = this.#endOfSegment(delimiters)
      if (end === -1) {
        if (this.#rest.length <= this.#maxLength) return undefined
        this.#reset(this.#rest.slice(-2))
        return { fault: interchangeFault(interchangeFaults.structure, `A segment has more than ${this.#maxLength} characters. The rest of the interchange was skipped.`) }
      }
      const text = this.#rest.slice(0, end)
      this.#rest = this.#rest.slice(end + delimiters.segment.length)
      this.#searched = 0
      const trimmed = this.#breaks ? withoutLayout(text) : text.trim()
      if (trimmed === "") {
        // after a terminator that is a line break, nothing but layout can be left
        if (this.#rest === "") return undefined
        continue
      }
      // an interchange without a trailer, directly followed by another one
      if (trimmed.startsWith(`ISA${delimiters.element}`)) {
        this.#reset(`${trimmed}${delimiters.segment}${this.#rest}`)
        return this.#readIsa(false)
      }
      return this.#segmentOf(trimmed, delimiters)
    }
  }

  #endOfSegment({ release, segment }: Delimiters): number {
    let end = this.#rest.indexOf(segment, this.#searched)
    while (release !== undefined && end !== -1 && isReleased(this.#rest, end, release)) end = this.#rest.indexOf(segment, end + 1)
    if (end === -1) this.#searched = this.#rest.length
    return end
  }

  #segmentOf(text: string, delimiters: Delimiters): RawSegment {
    const [id = "", ...raw] = divide(text, delimiters.element, delimiters.release, maxElements + 2)
    const elements = delimiters.release === undefined ? raw : raw.map((element) => unreleased(element, delimiters.release))
    if (id === "ISX" && canDivide(raw[0]?.[0])) this.#delimiters = { ...delimiters, release: raw[0][0] }
    if (id === "IEA") this.#reset(this.#rest)
    return { id, elements }
  }
}

const withoutLayout = (text: string): string => text.includes("\n") || text.includes("\r") ? text.replace(lineBreaks, "").trimStart() : text.trimStart()

const isReleased = (text: string, index: number, release: string): boolean => {
  let releases = 0
  while (text[index - 1 - releases] === release) releases += 1
  return releases % 2 === 1
}

/** The first characters of ISA without line breaks, and where they end in the text. */
const withoutBreaks = (text: string): { readonly plain: string; readonly at: number } => {
  let plain = ""
  let at = 0
  while (at < text.length && plain.length < isaLength) {
    const character = text[at]!
    if (character !== "\r" && character !== "\n") plain += character
    at += 1
  }
  return { plain, at }
}

/** A line break that a segment follows is the terminator; one that a delimiter follows is layout. */
const terminatorAt = (text: string, at: number): { readonly terminator: string | undefined; readonly next: number } => {
  const breaks = /^[\r\n]*/u.exec(text.slice(at, at + 3))![0]
  const after = text[at + breaks.length]
  if (breaks === "" || canDivide(after)) return { terminator: after, next: at + breaks.length + 1 }
  return { terminator: breaks.includes("\n") ? "\n" : "\r", next: at + breaks.length }
}

const interchangeFault = (code: string, detail: string): EdiFault => ({ level: "interchange", code, segment: "ISA", detail })

const mostQuoted = 40

const quoted = (text: string): string => JSON.stringify(text.length > mostQuoted ? `${text.slice(0, mostQuoted)}…` : text)

/** Layout between interchanges: spaces, line breaks, a byte order mark, the end-of-file character. */
const isLayout = (text: string): boolean => /^[\s\ufeff\u001a]*$/u.test(text)
