/** What a claim hands out of one lane, and when a lane that is given back is due again. */
import { type ClaimedEntry, type ClaimedLane, type ClaimRequest, doubtMillis, type DueDelivery, type LaneSettlement, secretUsableBy } from "@waybill/core"
import { compareText } from "../shared/CodePoints.ts"
import { lowerBound } from "../shared/Journal.ts"
import type { Delivery, Entry, Lane } from "./LaneTables.ts"
import type { SecretRows } from "./SecretTables.ts"

export const claimedLane = (
  lane: Lane,
  { accounts, secrets }: { readonly secrets: SecretRows; readonly accounts: ReadonlySet<string> },
  request: ClaimRequest,
  now: number
): ClaimedLane => {
  const { client, endpointUrl, envelope, hmacSecretId, policy, signing, whenDead } = lane.settings
  const secret = secrets.find(request.tenantId, hmacSecretId, now)
  const deliveries = lane.breaker.openUntil === undefined ? request.deliveriesPerLane : 1
  return {
    laneId: lane.laneId,
    client,
    token: lane.token,
    endpointUrl,
    hmacSecretId,
    secrets: secret?.versions ?? [],
    bodySignature: secret?.bodySignature ?? false,
    secretRefused: secret !== undefined && !secretUsableBy(secret.owner, { client, accounts: [...accounts] }),
    signing,
    whenDead,
    policy,
    envelope,
    breaker: lane.breaker,
    rateMark: lane.rateMark,
    arrivals: lane.arrivals,
    due: dueOf(lane, deliveries, now),
    ...waitingOf(lane, { rows: policy.batchMaxSize * deliveries, bytes: request.bytesPerLane })
  }
}

const isOrphaned = (delivery: Delivery, lane: Lane): boolean => delivery.state === "sending" && delivery.token !== lane.token

/** A delivery that operators send again may share a shipment with a later one: the older goes first, and never both side by side. */
const mustWait = (delivery: Delivery, lane: Lane, leased: boolean): boolean => {
  for (const other of lane.unsettled.values()) {
    if (other === delivery || !other.keys.some((key) => delivery.keys.includes(key))) continue
    const underWay = leased && other.state === "sending" && !isOrphaned(other, lane)
    if (underWay || compareText(other.deliveryId, delivery.deliveryId) < 0) return true
  }
  return false
}

/** Frozen deliveries to attempt again, oldest first. */
const dueOf = (lane: Lane, limit: number, now: number): ReadonlyArray<DueDelivery> =>
  [...lane.unsettled.values()]
    .filter((each) => (isOrphaned(each, lane) || (each.state === "waiting" && each.dueAt! <= now)) && !mustWait(each, lane, true))
    .sort((a, b) => compareText(a.deliveryId, b.deliveryId))
    .slice(0, limit)
    .map((each) => ({
      deliveryId: each.deliveryId,
      sentAt: each.sentAt,
      attempt: each.attempt,
      tries: each.tries,
      orphaned: each.state === "sending",
      events: each.payloads.length,
      payloads: each.payloads,
      traceparent: each.traceparent
    }))

/** Entries that may go out, from after the cursor, wrapping round. Shipments of unsettled deliveries are left out. */
const waitingOf = (lane: Lane, limits: { readonly rows: number; readonly bytes: number }): Pick<ClaimedLane, "waiting" | "more"> => {
  const waiting: Array<ClaimedEntry> = []
  let bytes = 0
  for (const entry of candidates(lane)) {
    const size = entry.payload.length
    if (waiting.length >= limits.rows || (waiting.length > 0 && bytes + size > limits.bytes)) return { waiting, more: true }
    waiting.push({ ...entry, size })
    bytes += size
  }
  return { waiting, more: false }
}

const candidates = function*(lane: Lane): Generator<Entry, void> {
  const held = new Set([...lane.unsettled.values()].flatMap((delivery) => delivery.keys))
  const { cursor, keys } = lane
  const first = cursor === undefined ? 0 : lowerBound(keys, (key) => compareText(key, cursor) <= 0 ? -1 : 1)
  for (let step = 0; step < keys.length; step++) {
    const key = keys[(first + step) % keys.length]!
    if (!held.has(key)) yield* lane.byKey.get(key)!
  }
}

/** When a lane is due that is given back now; `undefined`: when something arrives. */
export const dueAfterRelease = (lane: Lane, release: NonNullable<LaneSettlement["release"]>, now: number): number | undefined => {
  const dues: Array<number> = []
  if (release.arrivals !== lane.arrivals || (release.progress && lane.keys.length > 0)) dues.push(now)
  else if (!candidates(lane).next().done) dues.push(now + doubtMillis)
  // whoever gives the lane back sends nothing any more: what is still marked as being sent goes out again
  for (const delivery of lane.unsettled.values()) {
    if (!mustWait(delivery, lane, false)) dues.push(delivery.state === "sending" ? now : delivery.dueAt!)
  }
  return dues.length === 0 ? undefined : Math.max(Math.min(...dues), now + release.notBeforeMillis)
}
