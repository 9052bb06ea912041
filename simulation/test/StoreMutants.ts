/** Faulty changes to what the store does with signals, entries, deliveries and destinations. */
import { type Mutant, mutant } from "./Mutant.ts"

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
  mutant(events, "publishing leaves no signal",
    "if (first !== undefined) this.destinations.signal(destination, first)", ""),
  mutant(queue, "a change of a subscription leaves no signal",
    "        rows.raiseVersion(destination)\n        rows.signal(destination, undefined)", "        rows.raiseVersion(destination)"),
  mutant(queue, "a change of a subscription does not raise its version",
    "        rows.raiseVersion(destination)\n        rows.signal(destination, undefined)", "        rows.signal(destination, undefined)"),
  mutant(secretStore, "a new secret does not raise the version of its destinations",
    "destinations.raiseVersion(destination)", ""),
  mutant(queue, "a manual retry leaves no signal",
    `    journal.set(delivery, "tries", 0)\n    rows.signal(destination, undefined)`, `    journal.set(delivery, "tries", 0)`),
  mutant(tables, "a removal leaves no signal, so that its entries stay",
    `this.write(destination, delivery, "cancelled", now)\n    this.signal(destination, undefined)`, `this.write(destination, delivery, "cancelled", now)`),
  // replays
  mutant(events, "a replay queues events that wait already",
    "      if (this.destinations.waits(destination, place)) continue\n", ""),
  mutant(tables, "a delivery that is withdrawn queues events that a replay has queued",
    "if (!this.waits(destination, entry)) this.enqueue(destination, entry, now)", "this.enqueue(destination, entry, now)"),
  // takes
  mutant(picking, "a shipment's next event does not wait for the previous one",
    "entry.held || (batchOf.get(key) ?? batch) !== batch", "(batchOf.get(key) ?? batch) !== batch"),
  mutant(take, "keys in flight for the first time are not skipped",
    "const held = new Set([...keysInFlight, ...", "const held = new Set([..."),
  mutant(picking, "a shipment is in two batches at the same time",
    "entry.held || (batchOf.get(key) ?? batch) !== batch", "entry.held"),
  mutant(picking, "a batch has more events than the subscription allows",
    "weight += Math.max(2 * entry.size * limits.maxSize, limits.maxBytes)", "weight += Math.max(2 * entry.size * limits.maxSize, limits.maxBytes / 2)"),
  mutant(picking, "a batch has more bytes than the limit",
    "weight += Math.max(2 * entry.size * limits.maxSize, limits.maxBytes)", "weight += limits.maxBytes"),
  mutant(take, "taken entries stay in the queue",
    "for (const entry of entries) this.rows.dequeue(destination, entry)", ""),
  mutant(picking, "a take reports that nothing is left",
    "after: reached, more: true,", "after: reached, more: false,"),
  mutant(picking, "a take does not report skipped entries",
    "!== batch) blocked = true", "!== batch) blocked = false"),
  mutant(take, "retried deliveries of one shipment are sent concurrently",
    " || isHeldBack(delivery, first)) continue", ") continue"),
  mutant(tables, "an older delivery's retry is not sent first",
    "compareText(one.deliveryId, other.deliveryId) < 0", "compareText(one.deliveryId, other.deliveryId) > 0"),
  mutant(take, "a retry is not counted when it is taken",
    `      this.journal.set(delivery, "attempt", delivery.attempt + 1)\n      this.journal.set(delivery, "tries", delivery.tries + 1)\n`, ""),
  mutant(take, "a retry has only the first event of its batch",
    "body: joinedPayloads(entries),", "body: joinedPayloads(attempt > 1 ? entries.slice(0, 1) : entries),"),
  mutant(take, "a take without entries leaves no flight for its retries",
    "if (first!.length + again!.length === 0) continue", "if (first!.length === 0) continue"),
  mutant(take, "a take takes unrequested deliveries above the rate limit",
    "destination.breaker.openUntil === undefined && (destination.rateMark ?? 0) <= this.now", "destination.breaker.openUntil === undefined"),
  mutant(take, "a take returns more unrequested deliveries than the limit",
    "      .slice(0, unrequested)\n", ""),
  mutant(take, "a paused destination sends",
    `if (destination.status.state !== "active" || !this.rows.admits(destination, this.now))`, "if (!this.rows.admits(destination, this.now))"),
  // outcomes
  mutant(store, "a repeated write of an old outcome undoes later changes",
    `if (delivery === undefined || delivery.state !== "sending" || delivery.attempt !== attempt) return`, "if (delivery === undefined) return"),
  mutant(store, "an attempt that the worker's stop interrupted is counted",
    `if (notCounted) this.journal.set(delivery, "tries", delivery.tries - 1)`, ""),
  mutant(store, "outcomes of the old endpoint count for the new one",
    "const isSame = destination.settings.endpointUrl === endpointUrl", "const isSame = true"),
  mutant(store, "a pause that is written again undoes a resume",
    " || cause !== undefined && !written.has(cause)", ""),
  mutant(tables, "a dead letter disappears",
    "else this.journal.drop(destination.unsettled, deliveryId)\n", `else this.journal.drop(destination.unsettled, deliveryId)\n    if (written === "dead") this.journal.drop(deliveries, deliveryId)\n`),
  mutant(tables, "a retry after a removal waits forever",
    `const written = state === "waiting" && closed.has(destination.destinationId) ? "cancelled" : state`, "const written = state"),
  mutant(queue, "a manual retry keeps the count of attempts",
    `    journal.set(delivery, "tries", 0)\n`, ""),
  mutant(queue, "a manual retry changes a delivery in flight",
    `if (state === "sending" || state === "cancelled") return state`, `if (state === "cancelled") return state`),
  // destinations
  mutant(tables, "deliveries of a removed subscription are not cancelled",
    `for (const delivery of destination.unsettled.values()) if (delivery.state === "waiting") this.write(destination, delivery, "cancelled", now)\n`, ""),
  mutant(tables, "a closed destination still sends",
    "    this.journal.drop(tenant.destinations, destinationId)\n", ""),
  mutant(queue, "a subscription with a new endpoint is sent to the old one",
    `journal.set(destination, "settings", { ...settings, client, envelope`, `journal.set(destination, "settings", { ...settings, client, endpointUrl, envelope`),
  mutant(queue, "the circuit breaker of an old endpoint applies to the new one",
    `if (endpointUrl !== settings.endpointUrl) journal.set(destination, "breaker", closedBreaker)`, ""),
  mutant(secrets, "secrets whose overlap ended still sign",
    "versions: stored.versions.filter(({ signsUntil }) => signsUntil === undefined || signsUntil > now)", "versions: stored.versions.map((version) => ({ ...version, signsUntil: undefined }))")
]
