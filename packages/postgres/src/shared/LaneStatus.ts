/** Reads a lane's state from rows. */
import type { LaneState, LaneStatus, PausedBy } from "@waybill/core"

/** From the columns state, reason, since and paused_by, in that order. */
export const statusOf = ([state, reason, since, pausedBy]: ReadonlyArray<unknown>): LaneStatus => ({
  state: state as LaneState,
  reason: (reason as string | null) ?? undefined,
  since: since as number,
  pausedBy: (pausedBy as PausedBy | null) ?? undefined
})
