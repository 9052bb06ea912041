/** The delivery worker's storage in memory. */
import {
  type DeliveryOutcome,
  DeliveryStore,
  type DestinationChange,
  type Dropped,
  type DropRequest,
  type LoadedDestination,
  partitionOf,
  purgeReason,
  purgeStep,
  type Settled,
  type SettleRequest,
  waitingPerDestination,
  waitsForDisk
} from "@waybill/core/delivery"
import { type AccessRows, AccessTables } from "../access/AccessTables.ts"
import type { Journal } from "../shared/Journal.ts"
import { storeLayer } from "../shared/StoreLayer.ts"
import { type Destination, type DestinationRows, DestinationTables, entriesOf, type Entry, firstByKey, flightKey, isHeldBack, partitionsHeld, type Tenant } from "./DestinationTables.ts"
import { Ownership, waitingIn } from "./OwnershipMemory.ts"
import { isUsableBy, type SecretRows, SecretTables } from "./SecretTables.ts"
import { Take } from "./TakeMemory.ts"

export const layer = storeLayer(DeliveryStore, { rows: DestinationTables, secrets: SecretTables, access: AccessTables }, ({ access, operate, operateUnflushed, rows, secrets }) => {
  const ownership = new Ownership(rows)
  const writes = new Writes(rows)

  return {
    renew: (worker) => operate((now) => ownership.renew(worker, now)),
    look: (workerId, limit) => operate((now) => ownership.look(workerId, limit, now)),
    acquire: (worker, tenantId, partitions) =>
      operate((now) => ({ now, partitions: ownership.acquire(worker, rows.of(tenantId), partitions, now) })),
    load: (tenantId, destinationIds) =>
      operate((now) =>
        destinationIds.flatMap((id) => {
          const destination = rows.find(tenantId, id)
          return destination === undefined ? [] : [loaded(destination, { secrets, access }, now)]
        })
      ),
    take: (request) => operate((now) => new Take(request, rows, now).run()),
    reclaim: (tenantId, owned, flight) => operate((now) => ownership.reclaim(rows.of(tenantId), owned, flight, now)),
    settle: (request) => (waitsForDisk(request) ? operate : operateUnflushed)((now) => writes.settle(request, now)),
    drop: (request) => operate((now) => writes.drop(request, now)),
    release: (tenantId, partitions, rateMarks) => operate((now) => ownership.release(rows.of(tenantId), partitions, rateMarks, now))
  }
})

const loaded = (destination: Destination, { access, secrets }: { readonly secrets: SecretRows; readonly access: AccessRows }, now: number): LoadedDestination => {
  const { breaker, rateMark, tenant: { tenantId }, version } = destination
  const { state: _, ...settings } = destination.settings
  const secret = secrets.find(tenantId, settings.hmacSecretId, now)
  const all = waitingIn(destination)
  const first = firstByKey(destination)
  const waiting = all.filter(({ deliveryId }) => !isHeldBack(destination.unsettled.get(deliveryId)!, first))
  return {
    ...settings,
    version,
    secrets: secret?.versions ?? [],
    isActive: destination.status.state === "active",
    secretRefused: secret !== undefined && !isUsableBy(secret, access, tenantId, settings.client),
    bodySignature: secret?.bodySignature ?? false,
    breaker,
    rateMark,
    waiting: waiting.slice(0, waitingPerDestination),
    moreWaiting: waiting.length > waitingPerDestination,
    holdsBack: waiting.length < all.length
  }
}

/** What an owner writes of attempts and drops. */
class Writes {
  private readonly rows: DestinationRows
  private readonly journal: Journal

  constructor(rows: DestinationRows) {
    this.rows = rows
    this.journal = rows.journal
  }

  settle({ destinations, ended, outcomes, owned, tenantId }: SettleRequest, now: number): Settled {
    const tenant = this.rows.of(tenantId)
    const held = partitionsHeld(tenant, owned)
    const written = new Set(outcomes.filter((each) => held.has(partitionOf(each.destinationId)) && this.end(tenant, each, now)).map(({ deliveryId }) => deliveryId))
    for (const { flight, partition } of ended) if (held.has(partition)) this.journal.drop(tenant.flights, flightKey(partition, flight))
    for (const each of destinations) {
      const destination = tenant.destinations.get(each.destinationId)
      if (destination !== undefined && held.has(destination.partition)) this.change(destination, each, written, now)
    }
    return { owned: [...held], locked: [] }
  }

  /** Writes an outcome unless one was written for this attempt. Returns whether it did. */
  private end(tenant: Tenant, outcome: DeliveryOutcome, now: number): boolean {
    const { attempt, deliveryId, destinationId, dueInMillis, flight, record, state, notCounted } = outcome
    const flown = tenant.flights.get(flightKey(partitionOf(destinationId), flight))
    const delivery = tenant.deliveries.get(deliveryId) ?? flown?.first.find((each) => each.deliveryId === deliveryId)
    if (delivery === undefined || delivery.state !== "sending" || delivery.attempt !== attempt) return false
    if (record !== undefined) this.journal.set(delivery, "records", [...delivery.records, record])
    if (notCounted) this.journal.set(delivery, "tries", delivery.tries - 1)
    this.rows.write(this.rows.destinationOf(tenant, delivery), delivery, state, now, now + dueInMillis)
    return true
  }

  private change(destination: Destination, { always, breaker, cause, endpointUrl, pause }: DestinationChange, written: ReadonlySet<string>, now: number): void {
    const isSame = destination.settings.endpointUrl === endpointUrl
    if (isSame) this.journal.set(destination, "breaker", breaker)
    const { reason, state } = destination.status
    if (pause === undefined || !isSame && !always || cause !== undefined && !written.has(cause)) return
    // that of a purge would end with the purge
    if (state !== "active" && !(state === "paused" && reason === purgeReason)) return
    this.rows.setStatus(destination, { state: "paused", reason: pause, pausedBy: "service", since: now })
  }

  drop({ closed, deliveries, keys, owned, tenantId }: DropRequest, now: number): Dropped {
    const tenant = this.rows.of(tenantId)
    const held = partitionsHeld(tenant, owned)
    const openOf = (id: string) => held.has(partitionOf(id)) ? tenant.destinations.get(id) : undefined
    for (const { deliveryId, destinationId } of deliveries) {
      const delivery = tenant.deliveries.get(deliveryId)
      const destination = delivery === undefined ? undefined : openOf(destinationId)
      if (destination === undefined || delivery!.state !== "waiting" || delivery!.entries.every((entry) => this.rows.sees(destination, entry))) continue
      this.rows.withdraw(destination, delivery!, now)
    }
    const doomed = new Map<Entry, () => void>()
    for (const id of closed) {
      const destination = held.has(partitionOf(id)) ? tenant.closed.get(id) : undefined
      for (const entry of destination?.entries ?? []) doomed.set(entry, () => this.rows.dequeue(destination!, entry))
    }
    for (const { destinationId, key } of keys) {
      const destination = openOf(destinationId)
      const unseen = destination === undefined ? [] : entriesOf(destination, key).filter((entry) => !this.rows.sees(destination, entry))
      for (const entry of unseen) doomed.set(entry, () => this.rows.dropUnseen(destination!, entry, now))
    }
    for (const remove of [...doomed.values()].slice(0, purgeStep)) remove()
    return { dropped: Math.min(doomed.size, purgeStep), more: doomed.size > purgeStep, locked: [] }
  }
}
