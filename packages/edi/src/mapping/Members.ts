/** Paths into plain data: `location.city`, and `references[PRO]` for the value of the first reference of that type. */

type Data = Readonly<Record<string, unknown>>

const isData = (value: unknown): value is Data => typeof value === "object" && value !== null && !Array.isArray(value)

const parts = new Map<string, ReadonlyArray<string>>()

const partsOf = (path: string): ReadonlyArray<string> => {
  const known = parts.get(path)
  if (known !== undefined) return known
  const split = path === "" ? [] : path.split(".")
  parts.set(path, split)
  return split
}

const typed = /^(.+)\[(.+)\]$/u

interface Reference {
  readonly type?: string
  readonly value?: string
}

/** Reads a member. `used` collects the concrete paths that were read, such as `shipment.references.0.value`. */
export const member = (data: unknown, path: string, used?: Set<string>): unknown => {
  let value = data
  let at = ""
  let typeAt: string | undefined
  for (const part of partsOf(path)) {
    const [, list, type] = typed.exec(part) ?? []
    if (!isData(value)) return undefined
    if (list === undefined) {
      value = Object.hasOwn(value, part) ? value[part] : undefined
      at = at === "" ? part : `${at}.${part}`
      typeAt = undefined
      continue
    }
    const items = value[list]
    if (!Array.isArray(items)) return undefined
    const index = (items as ReadonlyArray<Reference>).findIndex((item) => item.type === type)
    if (index === -1) return undefined
    at = `${at === "" ? "" : `${at}.`}${list}.${index}.value`
    typeAt = at.replace(/value$/u, "type")
    value = (items[index] as Reference).value
  }
  if (value !== undefined) used?.add(at)
  if (value !== undefined && typeAt !== undefined) used?.add(typeAt)
  return value
}

/** Sets a member, and what is around it. A reference that is there already stays once. */
export const setMember = (data: Record<string, unknown>, path: string, value: unknown): void => {
  if (value === undefined) return
  const all = partsOf(path)
  let into: Record<string, unknown> = data
  for (const [index, part] of all.entries()) {
    const [, list, type] = typed.exec(part) ?? []
    if (list !== undefined) {
      const items = (into[list] ??= []) as Array<Reference>
      if (!items.some((item) => item.type === type && item.value === value)) items.push({ type: type!, value: value as string })
      return
    }
    if (index === all.length - 1) into[part] = value
    else into = (into[part] ??= {}) as Record<string, unknown>
  }
}

/** Joins paths: `""` is the whole. */
export const within = (outer: string, inner: string): string => outer === "" ? inner : inner === "" ? outer : `${outer}.${inner}`

/** Every leaf below a value, by its path. */
export const leaves = (value: unknown, path = ""): ReadonlyArray<readonly [path: string, value: unknown]> => {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return value.flatMap((item, index) => leaves(item, within(path, String(index))))
  return isData(value) ? Object.entries(value).flatMap(([name, inner]) => leaves(inner, within(path, name))) : [[path, value]]
}
