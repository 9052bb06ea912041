/** A problem in an interchange: the segment and element where it is, and the code that acknowledgements use for it. */

/**
 * What a fault refuses. `element`, `segment` and `set` refuse their transaction set. `group` and `interchange` are about envelopes,
 * whose sets were judged one by one.
 */
export type FaultLevel = "element" | "segment" | "set" | "group" | "interchange"

/** What is wrong with an interchange, a group, a set, a segment or an element, and where. */
export interface EdiFault {
  readonly level: FaultLevel
  /** The X12 code: element 723 for elements, 720 for segments, 718 for sets, 716 for groups, I18 for interchanges. */
  readonly code: string
  readonly segment: string
  /** Place of the segment in its set. */
  readonly position?: number
  readonly element?: number
  /** Text of the element, cut after 99 characters, as acknowledgements carry it. */
  readonly value?: string
  readonly detail: string
}

/** The beginning of an element's text, as faults and acknowledgements repeat it. */
export const excerptOf = (element: string): string => element.slice(0, 99)

/** Most faults that are kept for one transaction set. */
export const maxFaultsPerSet = 20

/** Codes of element 723. */
export const elementFaults = { missing: "1", tooMany: "3", tooShort: "4", tooLong: "5", character: "6", code: "7", date: "8", time: "9", exclusion: "10" } as const
/** Codes of element 720. */
export const segmentFaults = { unexpected: "2", missing: "3", tooMany: "5", elements: "8" } as const
/** Codes of element 718. */
export const setFaults = { notSupported: "1", noTrailer: "2", controlNumber: "3", count: "4", segments: "5", identifier: "6", noControlNumber: "7", repeated: "23" } as const
/** Codes of element 716. */
export const groupFaults = { notSupported: "1", version: "2", noTrailer: "3", controlNumber: "4", count: "5", noControlNumber: "6" } as const
/** Codes of element I18, the interchange note code of TA1. */
export const interchangeFaults = { controlNumber: "001", controlNumberValue: "018", sender: "006", receiver: "008", testIndicator: "020", groups: "021", structure: "022", endOfFile: "023" } as const

/** Names the place for people: `AT7-01 at segment 12`. */
export const placeOf = ({ element, position, segment }: EdiFault): string => {
  const name = element === undefined ? segment : `${segment}-${String(element).padStart(2, "0")}`
  return position === undefined || position === 0 ? name : `${name} at segment ${position}`
}
