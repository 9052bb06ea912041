/** Reads a destination's state from rows. */
import type { DestinationState, DestinationStatus, PausedBy } from "@waybill/core"

/** From the columns state, reason, since and paused_by, in that order. */
export const statusOf = ([state, reason, since, pausedBy]: ReadonlyArray<unknown>): DestinationStatus => ({
  state: state as DestinationState,
  reason: (reason as string | null) ?? undefined,
  since: since as number,
  pausedBy: (pausedBy as PausedBy | null) ?? undefined
})
