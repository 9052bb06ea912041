/** The characters that divide an interchange. Each interchange declares its own in its first segment, ISA. */

export interface Delimiters {
  readonly element: string
  readonly component: string
  /** From version 00402 on; older interchanges repeat nothing. */
  readonly repetition?: string | undefined
  readonly segment: string
  /** Takes the next character literally. ISX declares it, from version 7040 on. */
  readonly release?: string | undefined
}

/** The delimiters that most partners use. */
export const usualDelimiters: Delimiters = { element: "*", component: ">", repetition: "^", segment: "~" }

/** Versions from 00402 on declare a repetition separator in ISA-11, also if nothing is repeated. */
export const declared = (delimiters: Delimiters, version: string): Delimiters =>
  version < "004020" || delimiters.repetition !== undefined ? delimiters : { ...delimiters, repetition: "^" }

/** Characters that cannot be written without a release character. */
export const reserved = ({ component, element, repetition, segment }: Delimiters): ReadonlyArray<string> =>
  [element, component, segment, ...repetition === undefined ? [] : [repetition]]

/** Writes text so that no character of it divides; `undefined` if that needs a release character and there is none. */
export const released = (text: string, delimiters: Delimiters): string | undefined => {
  const { release } = delimiters
  const dividing = release === undefined ? reserved(delimiters) : [release, ...reserved(delimiters)]
  if (!dividing.some((each) => text.includes(each))) return text
  if (release === undefined) return undefined
  return Array.from(text, (character) => dividing.includes(character) ? release + character : character).join("")
}

/** Divides text at a character that is not released, into at most `most` parts. What follows them is left out. */
export const divide = (text: string, at: string, release: string | undefined, most: number): ReadonlyArray<string> => {
  if (release === undefined || !text.includes(release)) return text.split(at, most)
  const parts: Array<string> = []
  let from = 0
  for (let index = 0; index < text.length && parts.length < most; index++) {
    if (text[index] === release) index += 1
    else if (text[index] === at) {
      parts.push(text.slice(from, index))
      from = index + 1
    }
  }
  if (parts.length < most) parts.push(text.slice(from))
  return parts
}

/** Takes release characters out again. */
export const unreleased = (text: string, release: string | undefined): string => {
  if (release === undefined || !text.includes(release)) return text
  let plain = ""
  for (let index = 0; index < text.length; index++) {
    if (text[index] === release) index += 1
    plain += text[index] ?? ""
  }
  return plain
}
