/** Parses times from the command line: `15m`, `2h` or `3d` ago, or ahead, or RFC 3339. */
import { Flag } from "effect/cli"
import { messageOf } from "../../ErrorMessage.ts"

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Throws a message with the valid forms. */
const readInstant = (text: string, now: number, direction: "ago" | "ahead"): Date => {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  if (count !== undefined) {
    const millis = Number(count) * units[unit!]!
    // Nothing is older than 1970, and a year before 0 is no RFC 3339.
    return new Date(direction === "ago" ? Math.max(0, now - millis) : now + millis)
  }
  const at = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(text) && /(Z|[+-]\d{2}:\d{2})$/i.test(text) ? new Date(text) : new Date(NaN)
  if (Number.isNaN(at.getTime())) {
    throw new Error(`${direction === "ago" ? "15m, 2h or 3d for so long ago" : "12h or 90d for so long from now"}, or an instant with its offset, such as 2026-11-20T08:15:00Z`)
  }
  return at
}

const instantOf = (direction: "ago" | "ahead") => (name: string): Flag.Flag<Date> =>
  Flag.String(name).pipe(
    Flag.mapTryCatch((text) => readInstant(text, Date.now(), direction), messageOf),
    Flag.withMetavar("instant")
  )

/** `3d` is three days ago. */
export const instantFlag = instantOf("ago")

/** `3d` is in three days. */
export const futureInstantFlag = instantOf("ahead")
