/** Checks received JSON: only the parts that the receiver kit reads. */

/** A received body is invalid. `pointer` is the location of the error. */
export class BodyMalformed extends Error {
  override readonly name: string = "BodyMalformed"
  /** JSON pointer; empty for the whole body. */
  readonly pointer: string

  constructor(pointer: string, sentence: string, options?: ErrorOptions) {
    super(`${pointer === "" ? "The body" : pointer} ${sentence}`, options)
    this.pointer = pointer
  }
}

export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value)

const longestText = 1000

/** As deep as a Waybill server reads. `JSON.parse` takes seconds for millions of open brackets, and anyone can post an unsigned delivery. */
const mostLevels = 512

const [quote, backslash] = [0x22, 0x5c]
const [openObject, closeObject, openList, closeList] = [0x7b, 0x7d, 0x5b, 0x5d]

const isTooDeep = (json: Uint8Array): boolean => {
  let level = 0
  let isText = false
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]
    if (isText) {
      if (byte === backslash) at += 1
      else if (byte === quote) isText = false
    } else if (byte === quote) isText = true
    else if (byte === openObject || byte === openList) {
      level += 1
      if (level > mostLevels) return true
    } else if (byte === closeObject || byte === closeList) level -= 1
  }
  return false
}

/** Checks that throw errors of the given class. */
export const checksOf = (Malformed: typeof BodyMalformed) => ({
  json: (body: Uint8Array): unknown => {
    if (isTooDeep(body)) throw new Malformed("", `nests more than ${mostLevels} levels deep.`)
    try {
      return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body))
    } catch (cause) {
      throw new Malformed("", "is not JSON in UTF-8.", { cause })
    }
  },

  object: (pointer: string, value: unknown): JsonObject => {
    if (isObject(value)) return value
    throw new Malformed(pointer, "is not an object.")
  },

  nonEmptyList: (pointer: string, value: unknown, itemName: string): ReadonlyArray<unknown> => {
    if (Array.isArray(value) && value.length > 0) return value
    throw new Malformed(pointer, `is not a list of at least one ${itemName}.`)
  },

  text: (pointer: string, value: unknown): void => {
    if (typeof value === "string" && value !== "" && value.length <= longestText) return
    throw new Malformed(pointer, `is not a text of 1 to ${longestText} characters.`)
  }
})
