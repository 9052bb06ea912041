/** When a lane that a worker holds is asked about again, and when it is given back. */
import type { Agenda } from "./Agenda.ts"
import type { AttemptRoom } from "./AttemptRoom.ts"
import type { HeldLane } from "./HeldLane.ts"

/** A lane whose attempts hang is looked at again after this long, so that its other shipments go on. */
export const lookAgainMillis = 200

/** Beside a probe that hangs nothing goes out, but its owner may have named another endpoint. */
const besideProbeMillis = 5000

export const hasWaited = (lane: HeldLane, now: number): boolean => now - lane.since >= lookAgainMillis

/** Worker time at which a lane that had nothing to send is asked about again, unless an attempt ends. */
export const lookAgainAfter = (lane: HeldLane, now: number): number =>
  now + (lane.underWay > 0 && lane.breaker.openUntil !== undefined ? besideProbeMillis : lookAgainMillis)

/** Lanes we hold that may be handed more. While attempts are under way their shipments are held, so it is worth it only when they hang. */
export const refillable = (
  held: Iterable<HeldLane>,
  { agenda, now, room, tenantId }: { readonly tenantId: string; readonly now: number; readonly room: AttemptRoom; readonly agenda: Agenda }
): ReadonlyArray<HeldLane> => {
  const lanes: Array<HeldLane> = []
  for (const lane of held) {
    if (lane.tenantId !== tenantId || lane.lost || lane.busy || lane.doubtful || lane.pause !== undefined) continue
    if (lane.notBefore > now || room.of(lane) === 0) continue
    if (lane.lookAgainAt > now) agenda.lookAt(lane.lookAgainAt)
    else if (lane.underWay === 0 ? lane.more : hasWaited(lane, now)) lanes.push(lane)
    else if (lane.underWay > 0) agenda.lookAt(lane.since + lookAgainMillis)
  }
  return lanes
}

/** `isWanted`: the worker goes on, and has places for more lanes; then one that can be handed more is kept. */
export const mayRelease = (lane: HeldLane, { isWanted, now }: { readonly now: number; readonly isWanted: boolean }): boolean => {
  if (lane.underWay > 0 || lane.lost || lane.busy) return false
  return !(isWanted && lane.more && !lane.doubtful && lane.pause === undefined && lane.notBefore <= now)
}
