/** Refuses options that a function does not have, for hosts without types: a misspelt option would silently keep its default. */
import { nearestName } from "./NearestName.ts"

/** Throws a `TypeError` unless `options` is an object whose members are all `known`. Members that are `undefined` are ignored. */
export const checkOptionNames = (of: string, options: unknown, known: ReadonlyArray<string>): void => {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new TypeError(`${of} takes an object with options: ${known.slice(0, 3).join(", ")} and others.`)
  }
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || known.includes(name)) continue
    const nearest = nearestName(name, known)
    throw new TypeError(`${of} has no option ${name.slice(0, 100)}. ${nearest === undefined ? `It has ${known.join(", ")}.` : `Did you mean ${nearest}?`}`)
  }
}
