/** Problems that last over many polls. Each is logged once, until it changes or has ended. */
import type { SkippedEntry } from "@waybill/edi/transports"
import { Cause, Effect } from "effect"
import { messageOf } from "../ErrorMessage.ts"

/** Hidden files have one in their names, another one at each try. */
const uuids = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gu

export class EdiProblems {
  private readonly known = new Map<string, string>()

  /** Runs an effect. If it fails, logs the line with its cause, unless it failed with the same message the last time. `name`: of the work. */
  logged<A, E, R>(name: string, effect: Effect.Effect<A, E, R>, line: (cause: Cause.Cause<E>) => Effect.Effect<void>): Effect.Effect<void, never, R> {
    return Effect.matchCauseEffect(effect, {
      onSuccess: () => Effect.sync(() => void this.known.delete(name)),
      onFailure: (cause) => {
        if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
        const message = messageOf(Cause.squash(cause)).replaceAll(uuids, "…")
        if (this.known.get(name) === message) return Effect.void
        this.known.set(name, message)
        return line(cause)
      }
    })
  }
}

/** Logs the entries of a folder that the poll before did not skip. `known` are the lines of that poll; returns those of this one. */
export const logSkipped = Effect.fnUntraced(function*(known: ReadonlySet<string>, entries: ReadonlyArray<SkippedEntry>) {
  const lines = new Set<string>()
  for (const { name, reason } of entries) {
    const line = `${name}: ${reason}`
    lines.add(line)
    if (!known.has(line)) yield* Effect.logWarning("EDI file skipped.").pipe(Effect.annotateLogs({ file: name, reason }))
  }
  return lines
})
