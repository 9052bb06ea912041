/** Parses times from the command line: `15m`, `2h`, `3d` ago, or RFC 3339. */
import { Flag } from "effect/cli"
import { messageOf } from "../../ErrorMessage.ts"

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** Throws a message with the valid forms. */
const readInstant = (text: string, now: number): Date => {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? []
  // Nothing is older than 1970, and a year before 0 is no RFC 3339.
  if (count !== undefined) return new Date(Math.max(0, now - Number(count) * units[unit!]!))
  const at = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/.test(text) && /(Z|[+-]\d{2}:\d{2})$/i.test(text) ? new Date(text) : new Date(NaN)
  if (Number.isNaN(at.getTime())) {
    throw new Error("15m, 2h or 3d for so long ago, or an instant with its offset, such as 2026-11-20T08:15:00Z")
  }
  return at
}

export const instantFlag = (name: string): Flag.Flag<Date> =>
  Flag.String(name).pipe(
    Flag.mapTryCatch((text) => readInstant(text, Date.now()), messageOf),
    Flag.withMetavar("instant")
  )
