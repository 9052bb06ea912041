/** A segment as it is read. */

export interface Segment {
  readonly id: string
  /** Elements after the id: the first is element 01. Components of composite elements stay one text. */
  readonly elements: ReadonlyArray<string>
  /** Place in the transaction set: ST is 1. 0 outside of one. */
  readonly position: number
}

/** The text of an element by its number; empty if it is absent. */
export const elementOf = (segment: Segment, number: number): string => segment.elements[number - 1] ?? ""

/** How people name an element: `AT7-01`. */
export const elementName = (segment: string, number: number): string => `${segment}-${String(number).padStart(2, "0")}`
