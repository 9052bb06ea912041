/** Paths into plain data: `location.city`, and `references[PRO]` for the value of the first reference of that type. */

type Data = Readonly<Record<string, unknown>>

/** The value of a table under a key of its own, not one that every object has. */
export const own = <A>(table: Readonly<Record<string, A>>, key: unknown): A | undefined => typeof key === "string" && Object.hasOwn(table, key) ? table[key] : undefined

const isData = (value: unknown): value is Data => typeof value === "object" && value !== null && !Array.isArray(value)

/** `name`, or `list[type]`. */
interface Part {
  readonly name: string
  readonly type: string | undefined
}

const parts = new Map<string, ReadonlyArray<Part>>()

/** Paths come from mappings, so there are few. */
const partsOf = (path: string): ReadonlyArray<Part> => {
  const known = parts.get(path)
  if (known !== undefined) return known
  const split = path === "" ? [] : path.split(".").map((part): Part => {
    const [, list, type] = /^(.+)\[(.+)\]$/u.exec(part) ?? []
    return { name: list ?? part, type }
  })
  parts.set(path, split)
  return split
}

interface Reference {
  readonly type?: string
  readonly value?: string
}

/** Reads a member. `used` collects the concrete paths that were read, such as `shipment.references.0.value`. */
export const member = (data: unknown, path: string, used?: Set<string>): unknown => {
  let value = data
  let at = ""
  let typeAt: string | undefined
  for (const { name, type } of partsOf(path)) {
    if (!isData(value)) return undefined
    if (type === undefined) {
      value = own(value, name)
      at = at === "" ? name : `${at}.${name}`
      typeAt = undefined
      continue
    }
    const items = value[name]
    if (!Array.isArray(items)) return undefined
    const index = (items as ReadonlyArray<Reference>).findIndex((item) => item.type === type)
    if (index === -1) return undefined
    at = `${at === "" ? "" : `${at}.`}${name}.${index}.value`
    typeAt = at.replace(/value$/u, "type")
    value = (items[index] as Reference).value
  }
  if (value !== undefined) used?.add(at)
  if (value !== undefined && typeAt !== undefined) used?.add(typeAt)
  return value
}

const known = new WeakMap<ReadonlyArray<unknown>, Set<string>>()

/** Adds an item to a list unless it is there. A set may name a reference thousands of times. */
export const addOnce = (items: Array<unknown>, item: object): void => {
  let keys = known.get(items)
  if (keys === undefined) known.set(items, keys = new Set())
  const { type, value } = item as Reference
  const key = type !== undefined && value !== undefined ? `${type}\u0000${value}` : JSON.stringify(item)
  if (keys.has(key)) return
  keys.add(key)
  items.push(item)
}

/** Sets a member, and what is around it. A reference that is there already stays once. */
export const setMember = (data: Record<string, unknown>, path: string, value: unknown): void => {
  if (value === undefined) return
  const all = partsOf(path)
  let into: Record<string, unknown> = data
  for (const [index, { name, type }] of all.entries()) {
    if (type !== undefined) {
      const items = (into[name] ??= []) as Array<Reference>
      addOnce(items, { type, value: value as string })
      return
    }
    if (index === all.length - 1) into[name] = value
    else into = (into[name] ??= {}) as Record<string, unknown>
  }
}

/** Joins paths: `""` is the whole. */
export const within = (outer: string, inner: string): string => outer === "" ? inner : inner === "" ? outer : `${outer}.${inner}`

const joined = new Map<string, Map<string, string>>()

/** The same for paths of mappings, which are few: joining them for each element would take most of the time of reading. */
export const withinRule = (outer: string, inner: string): string => {
  let of = joined.get(outer)
  if (of === undefined) joined.set(outer, of = new Map())
  let path = of.get(inner)
  if (path === undefined) of.set(inner, path = within(outer, inner))
  return path
}

/** Every leaf below a value, by its path. */
export const leaves = (value: unknown, path = ""): ReadonlyArray<readonly [path: string, value: unknown]> => {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return value.flatMap((item, index) => leaves(item, within(path, String(index))))
  return isData(value) ? Object.entries(value).flatMap(([name, inner]) => leaves(inner, within(path, name))) : [[path, value]]
}
