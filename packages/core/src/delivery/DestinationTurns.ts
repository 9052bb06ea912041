/** When a destination that a worker holds is asked about again, and when it is given back. */
import type { Agenda } from "./Agenda.ts"
import type { AttemptRoom } from "./AttemptRoom.ts"
import type { HeldDestination } from "./HeldDestination.ts"

/** A destination whose attempts hang is looked at again after this long, so that its other shipments go on. */
export const lookAgainMillis = 200

/** Beside a probe that hangs nothing goes out, but its owner may have named another endpoint. */
const besideProbeMillis = 5000

export const hasWaited = (destination: HeldDestination, now: number): boolean => now - destination.since >= lookAgainMillis

/** Worker time at which a destination that had nothing to send is asked about again, unless an attempt ends. */
export const lookAgainAfter = (destination: HeldDestination, now: number): number =>
  now + (destination.underWay > 0 && destination.breaker.openUntil !== undefined ? besideProbeMillis : lookAgainMillis)

/** Destinations we hold that may be handed more. While attempts are under way their shipments are held, so it is worth it only when they hang. */
export const refillable = (
  held: Iterable<HeldDestination>,
  { agenda, now, room, tenantId }: { readonly tenantId: string; readonly now: number; readonly room: AttemptRoom; readonly agenda: Agenda }
): ReadonlyArray<HeldDestination> => {
  const destinations: Array<HeldDestination> = []
  for (const destination of held) {
    if (destination.tenantId !== tenantId || destination.lost || destination.busy || destination.doubtful || destination.pause !== undefined) continue
    if (destination.notBefore > now || room.of(destination) === 0) continue
    if (destination.lookAgainAt > now) agenda.lookAt(destination.lookAgainAt)
    else if (destination.underWay === 0 ? destination.more : hasWaited(destination, now)) destinations.push(destination)
    else if (destination.underWay > 0) agenda.lookAt(destination.since + lookAgainMillis)
  }
  return destinations
}

/** `isWanted`: the worker goes on, and has places for more destinations; then one that can be handed more is kept. */
export const mayRelease = (destination: HeldDestination, { isWanted, now }: { readonly now: number; readonly isWanted: boolean }): boolean => {
  if (destination.underWay > 0 || destination.lost || destination.busy) return false
  return !(isWanted && destination.more && !destination.doubtful && destination.pause === undefined && destination.notBefore <= now)
}
