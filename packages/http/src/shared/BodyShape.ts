/** What a body's schema says of its lists, so that they can be counted before anything is decoded. */
import { type Schema, SchemaAST } from "effect"

/** One place in a body; several shapes of one place are merged, so it takes what any of them takes. */
export interface BodyShape {
  /** Most items, where a list may stand here. */
  readonly maxItems?: number
  /** What a list with more is told. */
  readonly message?: string
  readonly items?: BodyShape
  readonly members?: ReadonlyMap<string, BodyShape>
}

const nothing: BodyShape = {}

/** The lists of a schema's encoded side. Fails for one without a limit, because nothing could refuse it in time. */
export const bodyShapeOf = (schema: Schema.Top): BodyShape => shapeOf(SchemaAST.toEncoded(schema.ast), "")

const shapeOf = (ast: SchemaAST.AST, path: string): BodyShape => {
  switch (ast._tag) {
    case "Arrays":
      return listShape(ast, path)
    case "Objects": {
      const members = ast.propertySignatures.map(({ name, type }) => [String(name), shapeOf(type, `${path}/${String(name)}`)] as const)
      const kept = members.filter(([, shape]) => shape !== nothing)
      return kept.length === 0 ? nothing : { members: new Map(kept) }
    }
    case "Union":
      return ast.types.map((type) => shapeOf(type, path)).reduce(merged, nothing)
    case "Suspend":
      throw new Error(`A body's schema must not hold itself; this one does at ${path}.`)
    default:
      return nothing
  }
}

const listShape = (ast: SchemaAST.Arrays, path: string): BodyShape => {
  const limits = (ast.checks ?? []).flatMap(limitOf)
  const limit = ast.rest.length === 0 ? { maxItems: ast.elements.length } : limits.sort((a, b) => a.maxItems - b.maxItems)[0]
  if (limit === undefined) throw new Error(`The list at ${path || "the top"} of a body needs a most of items: add Schema.isMaxLength.`)
  const items = [...ast.elements, ...ast.rest].map((item) => shapeOf(item, `${path}/*`)).reduce(merged, nothing)
  return items === nothing ? limit : { ...limit, items }
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

const merged = (a: BodyShape, b: BodyShape): BodyShape => {
  if (a === nothing) return b
  if (b === nothing) return a
  const longer = (a.maxItems ?? -1) >= (b.maxItems ?? -1) ? a : b
  const items = a.items === undefined ? b.items : b.items === undefined ? a.items : merged(a.items, b.items)
  const members = a.members === undefined ? b.members : b.members === undefined ? a.members : mergedMembers(a.members, b.members)
  return {
    ...(longer.maxItems === undefined ? {} : { maxItems: longer.maxItems }),
    ...(longer.message === undefined ? {} : { message: longer.message }),
    ...(items === undefined ? {} : { items }),
    ...(members === undefined ? {} : { members })
  }
}

const mergedMembers = (a: ReadonlyMap<string, BodyShape>, b: ReadonlyMap<string, BodyShape>): ReadonlyMap<string, BodyShape> => {
  const members = new Map(a)
  for (const [name, shape] of b) members.set(name, merged(members.get(name) ?? nothing, shape))
  return members
}

/**
 * The shape of a call that takes `{member: [item …]}`, `{member: item}`, `[item …]` or one item, as far as its items are concerned:
 * what is in one is that item's own affair, because the others may be taken without it.
 */
export const itemsShape = (whole: BodyShape, member: string): BodyShape => {
  const { items: _items, members: _members, ...list } = whole.members?.get(member) ?? nothing
  if (list.maxItems === undefined) throw new Error(`The body has no list ${member}.`)
  return { ...list, members: new Map([[member, list]]) }
}
