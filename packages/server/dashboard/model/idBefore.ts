/** Ids are UUIDs, and lists go by id. */

/** The UUID right before this one; `undefined` when this is none, or the first. */
export const idBefore = (id: string): string | undefined => {
  if (!/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(id)) return undefined
  const number = BigInt(`0x${id.replaceAll("-", "")}`)
  if (number === 0n) return undefined
  const hex = (number - 1n).toString(16).padStart(32, "0")
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5")
}
