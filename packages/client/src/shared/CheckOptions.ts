/** Refuses options with another name or type than a class has, for callers without types: a misspelt option would leave its default without a word. */

/** What an option is, and which values are. */
export type OptionKind = readonly [what: string, accepts: (value: unknown) => boolean]
/** Complete, so that a new option cannot be forgotten. */
export type OptionKinds<Options> = { readonly [Name in keyof Options]-?: OptionKind }

const numberKind = (what: string, accepts: (value: number) => boolean): OptionKind => [what, (value) => typeof value === "number" && accepts(value)]

export const optionKinds = {
  boolean: ["true or false", (value) => typeof value === "boolean"],
  count: numberKind("a whole number from 1", (value) => Number.isSafeInteger(value) && value >= 1),
  function: ["a function", (value) => typeof value === "function"],
  /** Also without an end. */
  number: numberKind("a number above 0", (value) => value > 0),
  list: ["a list", Array.isArray],
  object: ["an object", (value) => typeof value === "object" && value !== null],
  pause: numberKind("a number from 0", (value) => value >= 0),
  text: ["a text", (value) => typeof value === "string"]
} as const satisfies Readonly<Record<string, OptionKind>>

export const either = (...kinds: ReadonlyArray<OptionKind>): OptionKind => [kinds.map(([what]) => what).join(" or "), (value) => kinds.some(([, accepts]) => accepts(value))]

export const oneOf = (...values: ReadonlyArray<unknown>): OptionKind => [values.map((value) => JSON.stringify(value)).join(" or "), (value) => values.includes(value)]

/** Throws a `TypeError` for an unknown name, or a value of another kind. A member that is `undefined` is as good as none. Never quotes a text, which may be a secret. */
export const checkOptions = (of: string, options: unknown, kinds: Readonly<Record<string, OptionKind>>): void => {
  if (typeof options !== "object" || options === null) throw new TypeError(`${of} takes an object with options.`)
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined) continue
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined
    if (kind === undefined) throw new TypeError(`${of} has no option ${name.slice(0, 100)}. It has ${Object.keys(kinds).join(", ")}.`)
    const got = value === null || typeof value === "number" ? String(value) : Array.isArray(value) ? "a list" : `a value of type ${typeof value}`
    if (!kind[1](value)) throw new TypeError(`${name} of ${of} is ${kind[0]}, and got ${got}. Correct it, or leave it out for its default.`)
  }
}
