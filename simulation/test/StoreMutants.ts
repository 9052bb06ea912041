/** Faulty changes to what the store does with signals, entries, deliveries and destinations. */
import type { Mutant } from "./Mutant.ts"

const picking = "core/src/delivery/worker/EntryPicking.ts"
const take = "testkit/src/delivery/TakeMemory.ts"
const store = "testkit/src/delivery/DeliveryStoreMemory.ts"
const tables = "testkit/src/delivery/DestinationTables.ts"
const queue = "testkit/src/delivery/DeliveryQueueMemory.ts"
const events = "testkit/src/transit-events/TransitEventTables.ts"
const secrets = "testkit/src/delivery/SecretTables.ts"
const secretStore = "testkit/src/delivery/SecretStoreMemory.ts"

export const storeMutants: ReadonlyArray<Mutant> = [
  // signals
  {
    name: "publishing leaves no signal",
    file: events,
    find: "if (first !== undefined) this.destinations.signal(destination, first)",
    replace: ""
  },
  {
    name: "publishing signals the last shipment instead of the first",
    rare: true,
    file: events,
    find: "if (first === undefined || compareText(shipmentId, first) < 0) first = shipmentId",
    replace: `first = "S9"`
  },
  {
    name: "the largest key of several signals is returned",
    rare: true,
    file: "core/src/delivery/worker/EntryPicking.ts",
    find: "compareText(key, before.key) < 0)",
    replace: "compareText(key, before.key) > 0)"
  },
  {
    name: "a change of a subscription leaves no signal",
    file: queue,
    find: "            rows.raiseVersion(destination)\n            rows.signal(destination, undefined)",
    replace: "            rows.raiseVersion(destination)"
  },
  {
    name: "a change of a subscription does not raise its version",
    file: queue,
    find: "            rows.raiseVersion(destination)\n            rows.signal(destination, undefined)",
    replace: "            rows.signal(destination, undefined)"
  },
  {
    name: "a new secret does not raise the version of its destinations",
    file: secretStore,
    find: "destinations.raiseVersion(destination)",
    replace: ""
  },
  {
    name: "a manual retry leaves no signal",
    file: queue,
    find: `        journal.set(delivery, "tries", 0)\n        rows.signal(destination, undefined)`,
    replace: `        journal.set(delivery, "tries", 0)`
  },
  {
    name: "a removal leaves no signal, so that its entries stay",
    rare: true,
    file: tables,
    find: `this.write(destination, delivery, "cancelled", now)\n    this.signal(destination, undefined)`,
    replace: `this.write(destination, delivery, "cancelled", now)`
  },
  // takes
  {
    name: "a shipment's next event does not wait for the previous one",
    file: picking,
    find: "entry.held || (batchOf.get(key) ?? batch) !== batch",
    replace: "(batchOf.get(key) ?? batch) !== batch"
  },
  {
    name: "keys in flight for the first time are not skipped",
    file: take,
    find: "const held = new Set([...keysInFlight, ...",
    replace: "const held = new Set([..."
  },
  {
    name: "a shipment is in two batches at the same time",
    file: picking,
    find: "entry.held || (batchOf.get(key) ?? batch) !== batch",
    replace: "entry.held"
  },
  {
    name: "a batch has more events than the subscription allows",
    file: picking,
    find: "weight += Math.max(2 * entry.size * limits.maxSize, limits.maxBytes)",
    replace: "weight += Math.max(2 * entry.size * limits.maxSize, limits.maxBytes / 2)"
  },
  {
    name: "a batch has more bytes than the limit",
    file: picking,
    find: "weight += Math.max(2 * entry.size * limits.maxSize, limits.maxBytes)",
    replace: "weight += limits.maxBytes"
  },
  {
    name: "taken entries stay in the queue",
    file: take,
    find: "for (const entry of entries) this.rows.dequeue(destination, entry)",
    replace: ""
  },
  {
    name: "a take reports that nothing is left",
    file: picking,
    find: "after: reached, more: true,",
    replace: "after: reached, more: false,"
  },
  {
    name: "a take does not report skipped entries",
    file: picking,
    find: "!== batch) blocked = true",
    replace: "!== batch) blocked = false"
  },
  {
    name: "retried deliveries of one shipment are sent concurrently",
    file: take,
    find: "|| hasToWait(destination, delivery)) continue",
    replace: ") continue"
  },
  {
    name: "an older delivery's retry is not sent first",
    file: take,
    find: "(other.state === \"sending\" || compareText(other.deliveryId, delivery.deliveryId) < 0)",
    replace: "other.state === \"sending\""
  },
  {
    name: "a retry is not counted when it is taken",
    file: take,
    find: `      this.journal.set(delivery, "attempt", delivery.attempt + 1)\n      this.journal.set(delivery, "tries", delivery.tries + 1)\n`,
    replace: ""
  },
  {
    name: "a retry has only the first event of its batch",
    file: take,
    find: "body: joinedPayloads(entries),",
    replace: "body: joinedPayloads(attempt > 1 ? entries.slice(0, 1) : entries),"
  },
  {
    name: "a take without entries leaves no flight for its retries",
    file: take,
    find: "if (first!.length + again!.length === 0) continue",
    replace: "if (first!.length === 0) continue"
  },
  {
    name: "a take takes unrequested deliveries behind an open breaker",
    rare: true,
    file: take,
    find: "destination.breaker.openUntil === undefined && (destination.rateMark ?? 0) <= this.now",
    replace: "(destination.rateMark ?? 0) <= this.now"
  },
  {
    name: "a take takes unrequested deliveries above the rate limit",
    rare: true,
    file: take,
    find: "destination.breaker.openUntil === undefined && (destination.rateMark ?? 0) <= this.now",
    replace: "destination.breaker.openUntil === undefined"
  },
  {
    name: "a take returns more unrequested deliveries than the limit",
    file: take,
    find: "      .slice(0, unrequested)\n",
    replace: ""
  },
  {
    name: "a paused destination sends",
    file: take,
    find: `if (destination.status.state !== "active" || !this.gate.admits(destination, this.now))`,
    replace: "if (!this.gate.admits(destination, this.now))"
  },
  // outcomes
  {
    name: "a repeated write of an old outcome undoes later changes",
    file: store,
    find: `if (delivery === undefined || delivery.state !== "sending" || delivery.attempt !== attempt) return`,
    replace: "if (delivery === undefined) return"
  },
  {
    name: "an outcome of an earlier attempt counts",
    rare: true,
    file: store,
    find: ` || delivery.state !== "sending" || delivery.attempt !== attempt) return`,
    replace: ` || delivery.state !== "sending") return`
  },
  {
    name: "an attempt that the worker's stop interrupted is counted",
    file: store,
    find: `if (notCounted) this.journal.set(delivery, "tries", delivery.tries - 1)`,
    replace: ""
  },
  {
    name: "outcomes of the old endpoint count for the new one",
    file: store,
    find: "const isSame = destination.settings.endpointUrl === endpointUrl",
    replace: "const isSame = true"
  },
  {
    name: "a dead letter disappears",
    file: tables,
    find: "else this.journal.drop(destination.unsettled, deliveryId)\n",
    replace: `else this.journal.drop(destination.unsettled, deliveryId)\n    if (written === "dead") this.journal.drop(deliveries, deliveryId)\n`
  },
  {
    name: "a retry after a removal waits forever",
    file: tables,
    find: `const written = state === "waiting" && closed.has(destination.destinationId) ? "cancelled" : state`,
    replace: "const written = state"
  },
  {
    name: "a manual retry keeps the count of attempts",
    file: queue,
    find: `        journal.set(delivery, "tries", 0)\n`,
    replace: ""
  },
  {
    name: "a manual retry changes a delivery in flight",
    file: queue,
    find: `if (state === "sending" || state === "cancelled") return state`,
    replace: `if (state === "cancelled") return state`
  },
  // destinations
  {
    name: "deliveries of a removed subscription are not cancelled",
    file: tables,
    find: `for (const delivery of destination.unsettled.values()) if (delivery.state === "waiting") this.write(destination, delivery, "cancelled", now)\n`,
    replace: ""
  },
  {
    name: "a closed destination still sends",
    file: tables,
    find: "    this.journal.drop(tenant.destinations, destinationId)\n",
    replace: ""
  },
  {
    name: "a subscription with a new endpoint is sent to the old one",
    file: queue,
    find: `journal.set(destination, "settings", { ...settings, client, envelope`,
    replace: `journal.set(destination, "settings", { ...settings, client, endpointUrl, envelope`
  },
  {
    name: "the circuit breaker of an old endpoint applies to the new one",
    file: queue,
    find: `if (endpointUrl !== settings.endpointUrl) journal.set(destination, "breaker", closedBreaker)`,
    replace: ""
  },
  {
    name: "secrets whose overlap ended still sign",
    file: secrets,
    find: "versions: stored.versions.filter(({ signsUntil }) => signsUntil === undefined || signsUntil > now)",
    replace: "versions: stored.versions.map((version) => ({ ...version, signsUntil: undefined }))"
  }
]
