/** Reads the limits of a schema's lists, so that lists can be counted before anything is decoded. */
import { type Schema, SchemaAST } from "effect"
import { type Fault, fault } from "./Fault.ts"
import { isObject, withoutUndefined } from "./Json.ts"

/** Limits at one place of the input. Where several schemas apply to one place, the most permissive limit wins. */
export interface ListLimits {
  /** Most items of a list at this place. */
  readonly maxItems?: number
  /** Error text for a longer list. */
  readonly message?: string
  readonly items?: ListLimits
  readonly members?: ReadonlyMap<string, ListLimits>
}

const noLimits: ListLimits = {}

/** Collects the list limits of a schema's encoded side. Throws for a list without a limit, because it could not be refused in time. */
export const listLimitsOf = (schema: Schema.Top): ListLimits => shapeOf(SchemaAST.toEncoded(schema.ast), "")

const shapeOf = (ast: SchemaAST.AST, path: string): ListLimits => {
  switch (ast._tag) {
    case "Arrays":
      return listShape(ast, path)
    case "Objects": {
      const members = ast.propertySignatures.map(({ name, type }) => [String(name), shapeOf(type, `${path}/${String(name)}`)] as const)
      const kept = members.filter(([, shape]) => shape !== noLimits)
      return kept.length === 0 ? noLimits : { members: new Map(kept) }
    }
    case "Union":
      return ast.types.map((type) => shapeOf(type, path)).reduce(merged, noLimits)
    case "Suspend":
      throw new Error(`An input's schema must not hold itself; this one does at ${path}.`)
    default:
      return noLimits
  }
}

const listShape = (ast: SchemaAST.Arrays, path: string): ListLimits => {
  const limits = (ast.checks ?? []).flatMap(limitOf)
  const limit = ast.rest.length === 0 ? { maxItems: ast.elements.length } : limits.sort((a, b) => a.maxItems - b.maxItems)[0]
  if (limit === undefined) throw new Error(`The list at ${path || "the top"} of an input has no limit: add Schema.isMaxLength.`)
  const items = [...ast.elements, ...ast.rest].map((item) => shapeOf(item, `${path}/*`)).reduce(merged, noLimits)
  return items === noLimits ? limit : { ...limit, items }
}

const limitOf = (check: SchemaAST.Check<never>): ReadonlyArray<{ readonly maxItems: number; readonly message?: string }> => {
  if (check._tag === "FilterGroup") return check.checks.flatMap(limitOf)
  const { message, representation } = (check.annotations ?? {}) as {
    readonly message?: unknown
    readonly representation?: { readonly id?: unknown; readonly payload?: { readonly maxLength?: unknown } }
  }
  const maxLength = representation?.id === "effect/schema/isMaxLength" ? representation.payload?.maxLength : undefined
  if (typeof maxLength !== "number") return []
  return [typeof message === "string" ? { maxItems: maxLength, message } : { maxItems: maxLength }]
}

const merged = (a: ListLimits, b: ListLimits): ListLimits => {
  if (a === noLimits) return b
  if (b === noLimits) return a
  const longer = (a.maxItems ?? -1) >= (b.maxItems ?? -1) ? a : b
  const items = a.items === undefined ? b.items : b.items === undefined ? a.items : merged(a.items, b.items)
  const members = a.members === undefined ? b.members : b.members === undefined ? a.members : mergedMembers(a.members, b.members)
  return withoutUndefined({ maxItems: longer.maxItems, message: longer.message, items, members })
}

const mergedMembers = (a: ReadonlyMap<string, ListLimits>, b: ReadonlyMap<string, ListLimits>): ReadonlyMap<string, ListLimits> => {
  const members = new Map(a)
  for (const [name, shape] of b) members.set(name, merged(members.get(name) ?? noLimits, shape))
  return members
}

/** Lists every list that is longer than its limit, at most `most` of them. Visits only lists and values that contain lists. */
export const overlongLists = (limits: ListLimits, input: unknown, prefix: ReadonlyArray<PropertyKey>, most: number): ReadonlyArray<Fault> => {
  const faults: Array<Fault> = []
  collectOverlong(limits, input, [...prefix], most, faults)
  return faults
}

/** `path` is extended and shortened again, because nearly all input has no such list: a copy for each member would be garbage. */
const collectOverlong = (limits: ListLimits, input: unknown, path: Array<PropertyKey>, most: number, faults: Array<Fault>): void => {
  if (faults.length >= most) return
  if (Array.isArray(input)) {
    const { items, maxItems, message } = limits
    if (maxItems !== undefined && input.length > maxItems) {
      faults.push(fault(path, message ?? `At most ${maxItems} items.`, "out_of_bounds"))
    } else if (items !== undefined) {
      for (let at = 0; at < input.length && faults.length < most; at++) collectAt(at, items, input[at], path, most, faults)
    }
  } else if (limits.members !== undefined && isObject(input)) {
    for (const [name, inner] of limits.members) {
      if (Object.hasOwn(input, name)) collectAt(name, inner, input[name], path, most, faults)
    }
  }
}

const collectAt = (key: PropertyKey, limits: ListLimits, input: unknown, path: Array<PropertyKey>, most: number, faults: Array<Fault>): void => {
  path.push(key)
  collectOverlong(limits, input, path, most, faults)
  path.pop()
}
