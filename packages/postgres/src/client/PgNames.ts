/** Names of prepared statements, for statements that are sent repeatedly. */
import { createHash } from "node:crypto"

/**
 * Returns the name under which a statement is prepared, or `undefined` for an unprepared statement.
 *
 * A text gets a name when it is sent for the second time, and at most `limit` texts get one. Texts that differ
 * each time (an `IN` list of changing length) therefore neither fill the server's memory nor use up names.
 * The name is a hash of the text: the same on every connection and in every process.
 *
 * @stability unstable
 */
export const statementNames = (limit = 500): (text: string) => string | undefined => {
  const names = new Map<string, string>()
  const seenOnce = new Set<string>()
  return (text) => {
    const known = names.get(text)
    if (known !== undefined || names.size >= limit) return known
    if (!seenOnce.delete(text)) {
      if (seenOnce.size >= 2 * limit) seenOnce.clear()
      seenOnce.add(text)
      return undefined
    }
    const name = `waybill_${createHash("sha256").update(text).digest("base64url").slice(0, 22)}`
    names.set(text, name)
    return name
  }
}
