/** What a claim hands out of one destination, and when a destination that is given back is due again. */
import { type ClaimedEntry, type ClaimedDestination, type ClaimRequest, doubtMillis, type DueDelivery, type DestinationSettlement, secretUsableBy } from "@waybill/core"
import { compareText } from "../shared/CodePoints.ts"
import { lowerBound } from "../shared/Journal.ts"
import type { Delivery, Entry, Destination } from "./DestinationTables.ts"
import type { SecretRows } from "./SecretTables.ts"

export const claimedDestination = (
  destination: Destination,
  { accounts, secrets }: { readonly secrets: SecretRows; readonly accounts: ReadonlySet<string> },
  request: ClaimRequest,
  now: number
): ClaimedDestination => {
  const { client, endpointUrl, envelope, hmacSecretId, policy, signing, whenDead } = destination.settings
  const secret = secrets.find(request.tenantId, hmacSecretId, now)
  const deliveries = destination.breaker.openUntil === undefined ? request.deliveriesPerDestination : 1
  return {
    destinationId: destination.destinationId,
    client,
    token: destination.token,
    endpointUrl,
    hmacSecretId,
    secrets: secret?.versions ?? [],
    bodySignature: secret?.bodySignature ?? false,
    secretRefused: secret !== undefined && !secretUsableBy(secret.owner, { client, accounts: [...accounts] }),
    signing,
    whenDead,
    policy,
    envelope,
    breaker: destination.breaker,
    rateMark: destination.rateMark,
    arrivals: destination.arrivals,
    due: dueOf(destination, deliveries, now),
    ...waitingOf(destination, { rows: policy.batchMaxSize * deliveries, bytes: request.bytesPerDestination })
  }
}

const isOrphaned = (delivery: Delivery, destination: Destination): boolean => delivery.state === "sending" && delivery.token !== destination.token

/** A delivery that operators send again may share a shipment with a later one: the older goes first, and never both side by side. */
const mustWait = (delivery: Delivery, destination: Destination, leased: boolean): boolean => {
  for (const other of destination.unsettled.values()) {
    if (other === delivery || !other.keys.some((key) => delivery.keys.includes(key))) continue
    const underWay = leased && other.state === "sending" && !isOrphaned(other, destination)
    if (underWay || compareText(other.deliveryId, delivery.deliveryId) < 0) return true
  }
  return false
}

/** Frozen deliveries to attempt again, oldest first. */
const dueOf = (destination: Destination, limit: number, now: number): ReadonlyArray<DueDelivery> =>
  [...destination.unsettled.values()]
    .filter((each) => (isOrphaned(each, destination) || (each.state === "waiting" && each.dueAt! <= now)) && !mustWait(each, destination, true))
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
const waitingOf = (destination: Destination, limits: { readonly rows: number; readonly bytes: number }): Pick<ClaimedDestination, "waiting" | "more"> => {
  const waiting: Array<ClaimedEntry> = []
  let bytes = 0
  for (const entry of candidates(destination)) {
    const size = entry.payload.length
    if (waiting.length >= limits.rows || (waiting.length > 0 && bytes + size > limits.bytes)) return { waiting, more: true }
    waiting.push({ ...entry, size })
    bytes += size
  }
  return { waiting, more: false }
}

const candidates = function*(destination: Destination): Generator<Entry, void> {
  const held = new Set([...destination.unsettled.values()].flatMap((delivery) => delivery.keys))
  const { cursor, keys } = destination
  const first = cursor === undefined ? 0 : lowerBound(keys, (key) => compareText(key, cursor) <= 0 ? -1 : 1)
  for (let step = 0; step < keys.length; step++) {
    const key = keys[(first + step) % keys.length]!
    if (!held.has(key)) yield* destination.byKey.get(key)!
  }
}

/** When a destination is due that is given back now; `undefined`: when something arrives. */
export const dueAfterRelease = (destination: Destination, release: NonNullable<DestinationSettlement["release"]>, now: number): number | undefined => {
  const dues: Array<number> = []
  if (release.arrivals !== destination.arrivals || (release.progress && destination.keys.length > 0)) dues.push(now)
  else if (!candidates(destination).next().done) dues.push(now + doubtMillis)
  // whoever gives the destination back sends nothing any more: what is still marked as being sent goes out again
  for (const delivery of destination.unsettled.values()) {
    if (!mustWait(delivery, destination, false)) dues.push(delivery.state === "sending" ? now : delivery.dueAt!)
  }
  return dues.length === 0 ? undefined : Math.max(Math.min(...dues), now + release.notBeforeMillis)
}
