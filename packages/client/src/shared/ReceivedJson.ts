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

/** Checks that throw errors of the given class. */
export const checksOf = (Malformed: typeof BodyMalformed) => ({
  json: (body: Uint8Array): unknown => {
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
