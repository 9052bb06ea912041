/** Names for statements worth preparing: those that are sent again and again. */
import { createHash } from "node:crypto"

/**
 * Returns the name under which a statement is prepared, or `undefined` where it goes unprepared.
 *
 * A text gets its name when it is seen for the second time, and at most `limit` texts ever do, so texts that are built
 * anew each time (an `IN` list of changing length) neither fill the server's memory nor take a name from the others.
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
