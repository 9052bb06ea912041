/** A lane's state as rows tell it. */
import type { LaneState, LaneStatus, PausedBy } from "@waybill/core"

/** From state, reason, since and who paused it, in that order. */
export const statusOf = ([state, reason, since, pausedBy]: ReadonlyArray<unknown>): LaneStatus => ({
  state: state as LaneState,
  reason: (reason as string | null) ?? undefined,
  since: since as number,
  pausedBy: (pausedBy as PausedBy | null) ?? undefined
})
