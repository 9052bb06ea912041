/** Logs refused callers: 401, 403 and too many failures, with address and reason, never with the credentials; a few lines for each address. */
import { LineLimiter } from "@waybill/core"
import { Effect } from "effect"

export interface Refusal {
  /** As in `clientAddress`; `undefined` when unknown. */
  readonly address: string | undefined
  readonly status: number
  readonly reason: string
  /** Further fields of the log line. */
  readonly fields: Readonly<Record<string, unknown>>
}

export class RefusalLog {
  private readonly lines = new LineLimiter((address, refused) =>
    Effect.annotateLogs(Effect.logWarning(`Access refused ${refused} more times in one minute.`), { address, refused }))

  /** `now`: in `monotonicMillis`. */
  log({ address = "unknown", fields, reason, status }: Refusal, now: number): Effect.Effect<void> {
    return this.lines.logAt(now, address, Effect.annotateLogs(Effect.logWarning(`Access refused: ${reason}.`), { ...fields, status, address }))
  }

  /** Number of addresses in memory. */
  get size(): number {
    return this.lines.size
  }
}
